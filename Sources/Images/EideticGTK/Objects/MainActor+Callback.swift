#if GTK
extension MainActor {
    /// Runs `body` on the main actor, within a callback that GLib makes on the thread of its main loop.
    ///
    /// - Precondition: The calling thread is the main actor's; on any other thread the program traps.
    @discardableResult
    static func runCallback<Context, Result: Sendable>(
        with context: Context,
        body: @MainActor (Context) -> Result
    ) -> Result {
        // Safe to send: caller and `body` are on the same thread, which is checked.
        nonisolated(unsafe) let context = context
        return assumeIsolated { body(context) }
    }
}
#endif
