import EideticCore

extension ApplicationDelegate {
    /// Keeps the completion handler until the session has delivered its last event, and calls it then.
    public func application(
        _ application: Application,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @MainActor @Sendable () -> Void
    ) {
        BackgroundSessionWakes.shared.hold({ Task { @MainActor in completionHandler() } }, for: identifier)
    }

    /// Passes the wake for a session's events to the delegate, and waits until they are handled.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session.
    ///   - application: The application.
    package func handleEvents(ofBackgroundURLSession identifier: String, for application: Application) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        self.application(application, handleEventsForBackgroundURLSession: identifier) { continuation.finish() }
        // The stream has no values: it ends with the completion, or when the calling task is cancelled.
        for await _ in stream {}
    }
}
