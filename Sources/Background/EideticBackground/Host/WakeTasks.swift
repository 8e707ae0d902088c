import EideticCore
import EideticLifecycle

/// The wakes that the delegate is handling.
final class WakeTasks: Sendable {
    private let tasks = Guarded<[UInt64: Task<Void, Never>]>([:])

    /// Calls the delegate, and reports the result when it returns.
    @MainActor
    func start(
        _ reason: WakeReason,
        of application: Application,
        delegate: any ApplicationDelegate,
        inbox: EventInbox
    ) {
        // Called before the wake is acknowledged: the events of the session follow the acknowledgement.
        let events =
            reason.kind == .session
            ? delegate.handleEvents(ofBackgroundURLSession: reason.session, for: application) : nil
        // Runs when this function has returned to the main actor's loop, so the task is in the table before it ends.
        let task = Task { @MainActor in
            let result: BackgroundWake.Result
            if let events {
                // The stream has no values: it ends with the completion, or when this task is cancelled.
                for await _ in events {}
                result = .newData
            } else {
                result = await delegate.perform(reason, for: application)
            }
            if result == .newData, application.state == .background { application.saveSnapshot() }
            _ = self.tasks.withLock { $0.removeValue(forKey: reason.id) }
            inbox.post([.wakeCompleted(reason.id, WakeResult(result), process: .first)])
        }
        tasks.withLock { $0[reason.id] = task }
    }

    /// Cancels all wakes, because background time expires.
    func cancel() { for task in tasks.withLock({ Array($0.values) }) { task.cancel() } }
}
