#if GTK
/// Runs `body` within a callback of GLib's, which calls on the thread of its main loop: the main actor's.
///
/// - Precondition: The calling thread is that one; any other traps.
@discardableResult
func onMainThread<Context, Result: Sendable>(_ context: Context, _ body: @MainActor (Context) -> Result) -> Result {
    // Safe to send: it goes nowhere, since caller and `body` are on the same thread, which is checked.
    nonisolated(unsafe) let context = context
    return MainActor.assumeIsolated { body(context) }
}
#endif
