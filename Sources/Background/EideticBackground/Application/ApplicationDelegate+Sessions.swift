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

    /// Passes the wake for a session's events to the delegate.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session.
    ///   - application: The application.
    /// - Returns: A sequence without values, which ends when the completion handler is called.
    package func handleEvents(
        ofBackgroundURLSession identifier: String,
        for application: Application
    ) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        // The session says that its events are finished, also if none is left, while the wake has not ended.
        let wake = BackgroundSessionWakes.shared.begin(identifier)
        continuation.onTermination = { _ in BackgroundSessionWakes.shared.end(wake, of: identifier) }
        self.application(application, handleEventsForBackgroundURLSession: identifier) { continuation.finish() }
        return stream
    }
}
