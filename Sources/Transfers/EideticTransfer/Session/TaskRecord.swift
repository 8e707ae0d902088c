import EideticCore

/// The constants of a task.
struct TaskDescriptor: Sendable {
    /// The number that identifies the task in its session.
    let identifier: UInt64
    let request: BackgroundURLSession.Request
    /// The absolute path of the file to upload; `nil` for a download.
    var uploadedFile: String?
    var text: String?
    var priority: Int8 = 0
    var resumeData: [UInt8]?
}

/// The state in which a task is, or is to be, in the transfer process.
enum TaskGoal: Sendable, Hashable {
    /// The transfer process does not know the task.
    case absent
    case running
    case paused
    case cancelled(keepsResumeData: Bool)

    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}

/// A task as its session has it.
final class TaskRecord: Sendable {
    struct State {
        /// The number of the transfer in the transfer process; `nil` until it has stored the task.
        var transfer: TransferIdentifier?
        var goal = TaskGoal.absent
        /// The state that the transfer process has confirmed.
        var confirmed = TaskGoal.absent
        /// A Boolean value indicating whether this process has created the task, and can add it again.
        var isOwn = true
        var isCompleted = false
        /// A Boolean value indicating whether the transfer process has ended the transfer.
        var hasEnded = false
        var progress = TransferProgress(completed: 0)
        var response: BackgroundURLSession.Response?
        var destination: String?
        /// The time of day before which the task does not begin.
        var earliestBegin: Timestamp?
        var lastProgress: Duration?
    }

    let descriptor: TaskDescriptor
    /// Fulfilled when the transfer process has stored the task.
    let accepted = Promise<Void>()
    /// Fulfilled when the end of the task is delivered.
    let outcome = Promise<BackgroundURLSession.Response>()
    /// Fulfilled when the task has ended, with the data to resume it.
    let resumeData = Promise<[UInt8]?>()
    private let reference: @Sendable () -> SessionCore?
    private let state: Guarded<State>

    init(descriptor: TaskDescriptor, state: State = State(), session: SessionCore) {
        self.descriptor = descriptor
        self.state = Guarded(state)
        reference = { [weak session] in session }
    }

    var session: SessionCore? { reference() }
    var isDownload: Bool { descriptor.uploadedFile == nil }

    /// A copy of the state.
    var current: State { state.withLock { $0 } }

    @discardableResult
    func update<Result>(_ change: (inout sending State) -> sending Result) -> Result {
        state.withLock { state in change(&state) }
    }

    /// Sets the state that the application wants, and returns whether the transfer process must be told.
    ///
    /// A task that was cancelled or has ended stays so.
    func setGoal(_ goal: TaskGoal) -> Bool {
        update { state in
            guard !state.isCompleted, !state.goal.isCancelled, state.goal != goal else { return false }
            state.goal = goal
            return true
        }
    }

    /// A Boolean value indicating whether an asynchronous function waits for the end of the task.
    var isAwaited: Bool { outcome.isAwaited }

    /// Waits for the end of the task, which is delivered to the caller unless that is cancelled before.
    ///
    /// - Parameter destination: The path to which the file is moved; `nil` to leave it.
    /// - Returns: The head of the response.
    /// - Throws: The error of the task; `cancelled` if the calling task is cancelled.
    func awaitOutcome(
        movingFileTo destination: String? = nil
    ) async throws(EideticError) -> BackgroundURLSession.Response {
        if let destination { update { $0.destination = destination } }
        do throws(EideticError) {
            return try await outcome.value { session?.deliverEvents() }
        } catch {
            if !isAwaited { update { $0.destination = nil } }
            throw error
        }
    }

    /// Ends all waits for the task with the error of its session.
    func fail(_ error: EideticError) {
        accepted.fulfil(.failure(error))
        outcome.fulfil(.failure(error))
        resumeData.fulfil(.success(nil))
    }

    /// Returns whether a progress may be delivered now: four times a second at most.
    func allowsProgress(at uptime: Duration) -> Bool {
        update { state in
            if let last = state.lastProgress, uptime - last < .milliseconds(250) { return false }
            state.lastProgress = uptime
            return true
        }
    }
}
