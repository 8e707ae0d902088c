/// A provider of background tasks, which keep the process running while work is in progress.
///
/// The disk cache and the pipeline open one task per burst of work when the work is queued, and end it with the last
/// piece. This protocol is all they require; ``ForegroundEnvironment`` does nothing.
package protocol BackgroundTaskProvider: Sendable {
    /// Opens a background task for work that must not be suspended.
    ///
    /// May be called on any thread at any time. An implementation must not use the cache or pipeline that calls it.
    ///
    /// - Parameters:
    ///   - name: The name of the task in reports.
    ///   - expirationHandler: Called at most once, on any thread, when background time expires. The work must then
    ///     stop, and the task must still be ended.
    /// - Returns: The identifier of the task. If no task can be opened, `.invalid`: the handler is then never called,
    ///   and the work must not start.
    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier

    /// Ends a background task; has no effect for a task that has ended, and for `.invalid`.
    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier)
}

/// The identifier of an open background task.
public struct BackgroundTaskIdentifier: Hashable, Sendable {
    /// The number; 0 is ``invalid``.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The identifier of no task: no background task could be opened.
    public static let invalid = BackgroundTaskIdentifier(rawValue: 0)
}
