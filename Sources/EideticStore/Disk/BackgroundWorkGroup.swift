import EideticCore

/// A group of disk operations that share one background task, from the first that is queued to the last that finishes.
///
/// A background task for each operation would cost more than many an operation. When the background time expires, no
/// new operation starts, cancellable ones are cancelled, and running ones finish.
final class BackgroundWorkGroup: Sendable {
    private struct State {
        var pendingCount = 0
        /// The number of the current background task, so that a late expiration of an earlier one is ignored.
        var generation: UInt64 = 0
        var task = BackgroundTaskIdentifier.invalid
        var isExpired = false
        var cancellable: [ObjectIdentifier: JobContext] = [:]
    }

    private let environment: any ApplicationEnvironment
    private let state = Guarded(State())

    init(_ environment: any ApplicationEnvironment) { self.environment = environment }

    /// Throws `cancelled` if the background time has expired.
    func checkNotExpired() throws(EideticError) {
        guard state.withLock({ $0.isExpired }) else { return }
        throw Self.expirationError
    }

    private static let expirationError = EideticError(
        .cancelled,
        message: "the disk operation was not started: the background time has expired"
    )

    /// Adds an operation to the group.
    ///
    /// A call to `leave` must follow, except when this throws `cancelled` because the background time has expired.
    ///
    /// `context` is cancelled when the background time expires.
    func enter(cancellable context: JobContext? = nil) throws(EideticError) {
        try checkNotExpired()
        let newGeneration = state.withLock { state -> UInt64? in
            state.pendingCount += 1
            if let context { state.cancellable[ObjectIdentifier(context)] = context }
            guard state.pendingCount == 1 else { return nil }
            state.generation += 1
            return state.generation
        }
        guard let newGeneration, !startBackgroundTask(generation: newGeneration) else { return }
        leave(cancellable: context)
        throw Self.expirationError
    }

    /// Removes an operation that finished, or never started, from the group.
    func leave(cancellable context: JobContext? = nil) {
        let endedTask = state.withLock { state -> BackgroundTaskIdentifier in
            state.pendingCount -= 1
            if let context { state.cancellable[ObjectIdentifier(context)] = nil }
            guard state.pendingCount == 0 else { return .invalid }
            defer { state.task = .invalid }
            state.isExpired = false
            return state.task
        }
        if endedTask != .invalid { environment.endBackgroundTask(endedTask) }
    }

    /// Runs an operation on the caller's thread as part of the group.
    func run<Value>(
        cancellable context: JobContext? = nil,
        operation: () throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        try enter(cancellable: context)
        defer { leave(cancellable: context) }
        return try operation()
    }

    /// Starts the background task of a new group, and returns `false` if the environment grants none.
    private func startBackgroundTask(generation: UInt64) -> Bool {
        let task = environment.beginBackgroundTask(named: "eidetic disk cache") { [weak self] in
            self?.expire(generation: generation)
        }
        let hasEnded = state.withLock { state in
            // The group may have become empty while its task was starting.
            guard state.generation == generation, state.pendingCount > 0 else { return true }
            state.task = task
            return false
        }
        if hasEnded, task != .invalid { environment.endBackgroundTask(task) }
        return task != .invalid
    }

    private func expire(generation: UInt64) {
        let contexts = state.withLock { state -> [JobContext] in
            guard state.generation == generation, state.pendingCount > 0 else { return [] }
            state.isExpired = true
            return Array(state.cancellable.values)
        }
        for context in contexts { context.cancel() }
    }
}
