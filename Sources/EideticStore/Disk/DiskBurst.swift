import EideticCore

/// Holds one background task for each burst of disk work: from the first piece that is queued to the last that is done.
///
/// One for each piece would cost more than many a piece of work does. When the time is used up, nothing new begins,
/// optional work is cancelled, and what runs comes to its end (C17).
final class BackgroundWorkGroup: Sendable {
    private struct State {
        var pendingCount = 0
        /// Tells one burst from the next.
        var generation: UInt64 = 0
        var task = BackgroundTaskIdentifier.invalid
        var isExpired = false
        var cancellable: [ObjectIdentifier: JobContext] = [:]
    }

    private let environment: any ApplicationEnvironment
    private let state = Guarded(State())

    init(_ environment: any ApplicationEnvironment) { self.environment = environment }

    /// Throws `cancelled` where the time in the background is used up.
    func checkNotExpired() throws(EideticError) {
        guard state.withLock({ $0.isExpired }) else { return }
        throw Self.expirationError
    }

    private static let expirationError = EideticError(
        .cancelled,
        message: "disk work is not begun: the time in the background is used up"
    )

    /// Says that a piece of work is queued; `leave` must follow, also where this throws nothing new begins.
    ///
    /// `optional` is cancelled when the time is used up.
    func enter(cancellable: JobContext? = nil) throws(EideticError) {
        try checkNotExpired()
        let newGeneration = state.withLock { state -> UInt64? in
            state.pendingCount += 1
            if let cancellable { state.cancellable[ObjectIdentifier(cancellable)] = cancellable }
            guard state.pendingCount == 1 else { return nil }
            state.generation += 1
            return state.generation
        }
        guard let newGeneration, !startBackgroundTask(generation: newGeneration) else { return }
        leave(cancellable: cancellable)
        throw Self.expirationError
    }

    /// Says that a piece of work is done, or was given up.
    func leave(cancellable: JobContext? = nil) {
        let endedTask = state.withLock { state -> BackgroundTaskIdentifier in
            state.pendingCount -= 1
            if let cancellable { state.cancellable[ObjectIdentifier(cancellable)] = nil }
            guard state.pendingCount == 0 else { return .invalid }
            defer { state.task = .invalid }
            state.isExpired = false
            return state.task
        }
        if endedTask != .invalid { environment.endBackgroundTask(endedTask) }
    }

    /// Runs a piece of work on the caller's thread.
    func run<Value>(
        cancellable: JobContext? = nil,
        operation body: () throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        try enter(cancellable: cancellable)
        defer { leave(cancellable: cancellable) }
        return try body()
    }

    /// Gives `false` where no task may begin any more.
    private func startBackgroundTask(generation number: UInt64) -> Bool {
        let task = environment.beginBackgroundTask(named: "eidetic disk cache") { [weak self] in
            self?.expire(generation: number)
        }
        let hasEnded = state.withLock { state in
            // The burst may have ended while its task was begun.
            guard state.generation == number, state.pendingCount > 0 else { return true }
            state.task = task
            return false
        }
        if hasEnded, task != .invalid { environment.endBackgroundTask(task) }
        return task != .invalid
    }

    private func expire(generation number: UInt64) {
        let contexts = state.withLock { state -> [JobContext] in
            guard state.generation == number, state.pendingCount > 0 else { return [] }
            state.isExpired = true
            return Array(state.cancellable.values)
        }
        for context in contexts { context.cancel() }
    }
}
