import EideticCore

/// Stops a run that goes on in a task.
final class TaskCanceller: Sendable {
    private let state = Guarded<(status: ExitStatus?, task: Task<Void, Never>?)>((nil, nil))

    /// With which status the program ends since it was stopped; `nil` where it was not.
    var exitStatus: ExitStatus? { state.withLock { $0.status } }

    /// What is to be stopped; at once where the switch was used before.
    var task: Task<Void, Never>? {
        get { state.withLock { $0.task } }
        set {
            let isStopped = state.withLock { state in
                state.task = newValue
                return state.status != nil
            }
            if isStopped { newValue?.cancel() }
        }
    }

    /// Stops it.
    func cancel(exitStatus status: ExitStatus) {
        let task = state.withLock { state in
            state.status = status
            return state.task
        }
        task?.cancel()
    }
}
