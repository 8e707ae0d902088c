import EideticCLI
import EideticCore

/// A canceller of a run's task, which stores the exit status.
final class TaskCanceller: Sendable {
    private let state = Guarded<(exitStatus: ExitStatus?, task: Task<Void, Never>?)>((nil, nil))

    /// The exit status of the program; `nil` if the run was not cancelled.
    var exitStatus: ExitStatus? { state.withLock { $0.exitStatus } }

    /// The task of the run; a task that is set after the cancellation is cancelled immediately.
    var task: Task<Void, Never>? {
        get { state.withLock { $0.task } }
        set {
            let isCancelled = state.withLock { state in
                state.task = newValue
                return state.exitStatus != nil
            }
            if isCancelled { newValue?.cancel() }
        }
    }

    /// Cancels the task, now or as soon as it is set.
    func cancel(exitStatus: ExitStatus) {
        let task = state.withLock { state in
            state.exitStatus = exitStatus
            return state.task
        }
        task?.cancel()
    }

    /// Runs an operation in a detached task, which can be cancelled, and blocks until it ends.
    func runAndWait(_ operation: @escaping @Sendable () async -> Void) {
        let isDone = Monitor(false)
        task = Task.detached {
            await operation()
            isDone.withLock { $0 = true }
            isDone.broadcast()
        }
        isDone.wait { $0 ? () : nil }
    }
}
