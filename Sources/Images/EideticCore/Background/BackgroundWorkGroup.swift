/// A group of pieces of work that share one background task, from the first that is decided to the last that ends.
///
/// A background task for each piece would cost more than many a piece. A piece is added in the call that decides it,
/// and asks before it starts whether the group's background task was granted. When the background time expires, no
/// further piece starts, those with an expiration handler are told to stop, and running ones finish.
package final class BackgroundWorkGroup: Sendable {
    fileprivate enum Phase {
        case idle
        /// The provider is being asked for a task.
        case starting
        /// The provider has opened a task, or refused it with `.invalid`.
        case decided(BackgroundTaskIdentifier)
    }

    fileprivate struct State {
        var phase = Phase.idle
        var pendingCount = 0
        /// The number of the current background task, so that a late expiration of an earlier one is ignored.
        var generation: UInt64 = 0
        var isExpired = false
        var expirationHandlers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let provider: any BackgroundTaskProvider
    private let name: String
    private let state = Monitor(State())

    /// Creates an empty group.
    package init(named name: String, provider: any BackgroundTaskProvider) {
        self.name = name
        self.provider = provider
    }

    /// Adds a piece of work; the first one asks for the background task, in this call.
    ///
    /// - Parameter onExpiration: Called at most once, on any thread, when the background task is refused or its time
    ///   expires before the piece has ended.
    /// - Returns: The piece, which must be ended.
    /// - Throws: `cancelled` if the background task is refused, or its time has expired.
    package func begin(onExpiration: (@Sendable () -> Void)? = nil) throws(EideticError) -> BackgroundWork {
        let work = BackgroundWork(group: self)
        let newGeneration = try state.withLock { state throws(EideticError) in
            try state.add(work, onExpiration: onExpiration)
        }
        work.activate()
        if let newGeneration {
            startBackgroundTask(generation: newGeneration)
            // A piece that is refused is deallocated here, which ends it.
            try waitUntilAdmitted()
        }
        return work
    }

    /// Runs an operation on the caller's thread as a piece of the group.
    ///
    /// - Parameters:
    ///   - context: Cancelled when the background time expires.
    ///   - operation: The operation.
    /// - Returns: The result of the operation.
    /// - Throws: The error of the operation, or `cancelled`, as ``begin(onExpiration:)`` does.
    package func run<Value>(
        cancellable context: JobContext? = nil,
        operation: () throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let work = try begin { context?.cancel() }
        defer { work.end() }
        try work.waitUntilAdmitted()
        return try operation()
    }
}

extension BackgroundWorkGroup.State {
    /// Adds a piece, and returns the number of the background task that its caller must open, if any.
    fileprivate mutating func add(
        _ work: BackgroundWork,
        onExpiration: (@Sendable () -> Void)?
    ) throws(EideticError) -> UInt64? {
        try checkAdmission()
        pendingCount += 1
        if let onExpiration { expirationHandlers[ObjectIdentifier(work)] = onExpiration }
        guard case .idle = phase else { return nil }
        phase = .starting
        generation += 1
        return generation
    }

    /// Removes a piece, and returns the background task that its caller must end, if any.
    fileprivate mutating func remove(_ work: BackgroundWork) -> BackgroundTaskIdentifier {
        pendingCount -= 1
        expirationHandlers[ObjectIdentifier(work)] = nil
        guard pendingCount == 0 else { return .invalid }
        defer { (phase, isExpired) = (.idle, false) }
        if case .decided(let task) = phase { return task }
        return .invalid
    }

    fileprivate func checkAdmission() throws(EideticError) {
        if isExpired { throw BackgroundWorkGroup.refusal }
    }
}

// MARK: The background task
extension BackgroundWorkGroup {
    fileprivate static let refusal = EideticError(
        .cancelled,
        message: "the operation was not started: the background time has expired"
    )

    private func startBackgroundTask(generation: UInt64) {
        let task = provider.beginBackgroundTask(named: name) { [weak self] in self?.expire(generation: generation) }
        state.withLock { state in
            state.phase = .decided(task)
            state.isExpired = state.isExpired || task == .invalid
        }
        state.broadcast()
        if task == .invalid { expire(generation: generation) }
    }

    private func expire(generation: UInt64) {
        let handlers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.generation == generation, state.pendingCount > 0 else { return [] }
            state.isExpired = true
            defer { state.expirationHandlers = [:] }
            return Array(state.expirationHandlers.values)
        }
        for handler in handlers { handler() }
    }

    func end(_ work: BackgroundWork) {
        let task = state.withLock { $0.remove(work) }
        if task != .invalid { provider.endBackgroundTask(task) }
    }

    /// Waits until the provider has answered, and throws `cancelled` unless it granted a task that has not expired.
    func waitUntilAdmitted() throws(EideticError) {
        let result = state.wait { state -> Result<Void, EideticError>? in
            if case .starting = state.phase { return nil }
            do throws(EideticError) { return .success(try state.checkAdmission()) } catch { return .failure(error) }
        }
        try result.get()
    }
}
