import EideticCore

/// Holds one background task for each burst of disk work: from the first piece that is queued to the last that is done.
///
/// One for each piece would cost more than many a piece of work does. When the time is used up, nothing new begins,
/// optional work is cancelled, and what runs comes to its end (C17).
final class DiskBurst: Sendable {
    private struct State {
        var pieces = 0
        /// Tells one burst from the next.
        var number: UInt64 = 0
        var task = BackgroundTaskIdentifier.invalid
        var isExpired = false
        var optional: [ObjectIdentifier: WorkContext] = [:]
    }

    private let environment: any ApplicationEnvironment
    private let state = Guarded(State())

    init(_ environment: any ApplicationEnvironment) { self.environment = environment }

    /// Throws `cancelled` where the time in the background is used up.
    func check() throws(EideticError) {
        guard state.withLock({ $0.isExpired }) else { return }
        throw Self.timeIsUp
    }

    private static let timeIsUp = EideticError(
        .cancelled,
        "disk work is not begun: the time in the background is used up"
    )

    /// Says that a piece of work is queued; `leave` must follow, also where this throws nothing new begins.
    ///
    /// `optional` is cancelled when the time is used up.
    func enter(optional: WorkContext? = nil) throws(EideticError) {
        try check()
        let begun = state.withLock { state -> UInt64? in
            state.pieces += 1
            if let optional { state.optional[ObjectIdentifier(optional)] = optional }
            guard state.pieces == 1 else { return nil }
            state.number += 1
            return state.number
        }
        guard let begun, !beginTask(begun) else { return }
        leave(optional: optional)
        throw Self.timeIsUp
    }

    /// Says that a piece of work is done, or was given up.
    func leave(optional: WorkContext? = nil) {
        let ended = state.withLock { state -> BackgroundTaskIdentifier in
            state.pieces -= 1
            if let optional { state.optional[ObjectIdentifier(optional)] = nil }
            guard state.pieces == 0 else { return .invalid }
            defer { state.task = .invalid }
            state.isExpired = false
            return state.task
        }
        if ended != .invalid { environment.endBackgroundTask(ended) }
    }

    /// Runs a piece of work on the caller's thread.
    func run<Value>(
        optional: WorkContext? = nil,
        _ body: () throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        try enter(optional: optional)
        defer { leave(optional: optional) }
        return try body()
    }

    /// Gives `false` where no task may begin any more.
    private func beginTask(_ number: UInt64) -> Bool {
        let task = environment.beginBackgroundTask(named: "eidetic disk cache") { [weak self] in self?.expire(number) }
        let isOver = state.withLock { state in
            // The burst may have ended while its task was begun.
            guard state.number == number, state.pieces > 0 else { return true }
            state.task = task
            return false
        }
        if isOver, task != .invalid { environment.endBackgroundTask(task) }
        return task != .invalid
    }

    private func expire(_ number: UInt64) {
        let optional = state.withLock { state -> [WorkContext] in
            guard state.number == number, state.pieces > 0 else { return [] }
            state.isExpired = true
            return Array(state.optional.values)
        }
        for context in optional { context.cancel() }
    }
}
