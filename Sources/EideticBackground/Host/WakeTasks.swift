import EideticCore
import LifecycleCore

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
        // Runs when this function has returned to the main actor's loop, so the task is in the table before it ends.
        let task = Task { @MainActor in
            let result = await delegate.application(application, performWake: BackgroundWake(reason))
            _ = self.tasks.withLock { $0.removeValue(forKey: reason.id) }
            inbox.post([.wakeCompleted(reason.id, WakeResult(result), process: .first)])
        }
        tasks.withLock { $0[reason.id] = task }
    }

    /// Cancels all wakes, because background time expires.
    func cancel() { for task in tasks.withLock({ Array($0.values) }) { task.cancel() } }
}
