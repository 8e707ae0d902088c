import EideticCore

/// The tasks, events and acknowledgements of a session in this process.
///
/// The functions of the application change the state behind the lock and return. Two asynchronous loops do the work:
/// `run` brings the transfer process to that state, and `deliver` passes the events to the application.
final class SessionCore: Sendable {
    struct State {
        var tasks = SessionTasks()
        var acknowledgements = Acknowledgements()
        /// The callers that wait until the end of a task is handled.
        var endWaiters: [UInt64: [Waiter<Void>]] = [:]
        /// The callers that wait until nothing is delivered and everything confirmed.
        var idleWaiters: [Waiter<Void>] = []
        var queue = DeliveryQueue()
        /// The tasks with a progress that was not delivered.
        var progressing: [UInt64] = []
        var mailboxes: [EventMailbox] = []
        var isDelivering = false
        /// Returns the path to which the file of a task is moved; `nil` if the application moves it.
        var destination: (@Sendable (TransferTask) -> String?)?
        /// A Boolean value indicating whether no task can be added.
        var isClosing = false
        /// The reason for which the session became invalid by itself.
        var failure: EideticError?
        var isInvalid = false
        /// A Boolean value indicating whether the application has learned that the session is invalid.
        var isAnnounced = false
        weak var session: BackgroundURLSession?
        var connection: TransferClient?
    }

    let configuration: BackgroundURLSession.Configuration
    let delegate: (any BackgroundURLSessionDelegate)?
    let time: any TimeSource
    let opened = Promise<Void>()
    /// Fulfilled when the session is invalid, disconnected, and free for another object.
    let ended = Promise<Void>()
    let files = WorkPool(name: "eidetic sessions", maximumThreadCount: 1)
    let signal = WorkSignal()
    private let onInvalidation: @Sendable (SessionCore) -> Void
    private let state = Guarded(State())

    init(
        configuration: BackgroundURLSession.Configuration,
        delegate: (any BackgroundURLSessionDelegate)?,
        time: any TimeSource,
        onInvalidation: @escaping @Sendable (SessionCore) -> Void
    ) {
        self.configuration = configuration
        self.delegate = delegate
        self.time = time
        self.onInvalidation = onInvalidation
    }

    /// Calls `body` with exclusive access to the state; `body` must not call back.
    func withState<Result>(_ body: (inout sending State) -> sending Result) -> Result { state.withLock { body(&$0) } }

    /// The session that the events name.
    var session: BackgroundURLSession? { withState { $0.session } }

    /// All tasks whose end is not handled, in the order of their identifiers.
    var tasks: [TransferTask] {
        withState { $0.tasks.all }.sorted { $0.taskIdentifier < $1.taskIdentifier }
    }

    /// Waits until the transfer process has opened the session.
    func waitUntilOpened() async throws(EideticError) { try await opened.value() }
}

// MARK: Tasks
extension SessionCore {
    /// Adds a task, which does nothing until it is resumed.
    ///
    /// The session may fail at any moment. Until the application has learned of that, a new task gets the error, as
    /// those before it did.
    func add<Task: TransferTask>(_ task: Task) throws(EideticError) -> Task {
        let (isAdded, failure) = withState { state in
            let isOpen = !state.isClosing && !state.isAnnounced
            if isOpen { state.tasks.insert(task) }
            return (isOpen, state.failure)
        }
        guard isAdded else {
            let name = configuration.identifier
            throw failure ?? EideticError(.refused, message: "the session \(name) is invalidated")
        }
        if let failure { task.record.fail(failure) }
        return task
    }

    func suspend(_ task: TransferTask) {
        // A task that was never handed over is suspended already.
        if task.record.current.goal != .absent { setGoal(.paused, of: task) }
    }

    func cancel(_ task: TransferTask, keepsResumeData: Bool = false) {
        if task.record.current.goal != .absent {
            return setGoal(.cancelled(keepsResumeData: keepsResumeData), of: task)
        }
        guard task.record.setGoal(.cancelled(keepsResumeData: false)) else { return }
        fail(task, error: .cancelled)
    }

    func setGoal(_ goal: TaskGoal, of task: TransferTask) {
        guard task.record.setGoal(goal) else { return }
        withState { $0.tasks.markChanged(task) }
        signal.send()
    }

    /// Ends a task that the transfer process does not have.
    func fail(_ task: TransferTask, error: EideticError) {
        withState { $0.queue.append(.taskFailed(identifier: task.taskIdentifier, error), task: task.taskIdentifier) }
        deliverEvents()
    }
}

// MARK: The end of a session
extension SessionCore {
    func finishTasksAndInvalidate() {
        withState { $0.isClosing = true }
        deliverEvents()
    }

    func invalidateAndCancel() {
        withState { $0.isClosing = true }
        for task in tasks { cancel(task) }
        deliverEvents()
    }

    /// Makes the session invalid because the transfer process refuses it; its tasks stay as they are.
    func fail(_ error: EideticError) {
        withState { $0.failure = error }
        opened.fulfil(.failure(error))
        for task in tasks { task.record.fail(error) }
        deliverEvents()
    }

    /// Ends the connection without a word to the transfer process; all that was not acknowledged stays there.
    func disconnect() {
        let connection = withState { state in
            state.isInvalid = true
            state.failure = .cancelled
            state.acknowledgements.drop()
            return state.connection
        }
        connection?.close()
        signal.send()
    }

    /// Returns whether the session became invalid by this call.
    func invalidateIfDone() -> Bool {
        let isDone = withState { state in
            defer { if state.isDone { state.isInvalid = true } }
            return state.isDone
        }
        if isDone {
            opened.fulfil(.failure(EideticError(.cancelled, message: "the session is invalidated")))
            onInvalidation(self)
            signal.send()
        }
        return isDone
    }
}

extension SessionCore.State {
    /// A Boolean value indicating whether the session is to become invalid now.
    var isDone: Bool {
        !isInvalid && (failure != nil || isClosing && queue.isEmpty && tasks.areAbandoned)
    }
}
