import EideticCore

extension ApplicationDelegate {
    /// Returns when the session has delivered its last event.
    public func application(_ application: Application, handleEventsForBackgroundURLSession identifier: String) async {
        let (events, continuation) = AsyncStream<Void>.makeStream()
        BackgroundSessionWakes.shared.hold({ continuation.finish() }, for: identifier)
        for await _ in events {}
    }

    /// Passes the wake for a session's events to the delegate, which is called before this function returns.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session.
    ///   - application: The application.
    /// - Returns: A sequence without values, which ends when the delegate has returned.
    package func handleEvents(
        ofBackgroundURLSession identifier: String,
        for application: Application
    ) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        // The session says that its events are finished, also if none is left, while the wake has not ended.
        let wake = BackgroundSessionWakes.shared.begin(identifier)
        let work = Guarded<Task<Void, Never>?>(nil)
        continuation.onTermination = { _ in
            work.withLock { $0 }?.cancel()
            BackgroundSessionWakes.shared.end(wake, of: identifier)
        }
        let task = Task.immediate {
            await self.application(application, handleEventsForBackgroundURLSession: identifier)
            continuation.finish()
        }
        work.withLock { $0 = task }
        return stream
    }
}
