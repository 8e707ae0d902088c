import EideticCore

/// A value that several callers wait for, and that is set once.
final class Promise<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, EideticError>, Never>

    private struct State {
        var result: Result<Value, EideticError>?
        var waiters: [UInt64: Waiter] = [:]
        var waiterCount: UInt64 = 0
        /// The callers whose value has not come, and who were not cancelled.
        var expecting: Set<UInt64> = []
        /// Waiters that were cancelled before they waited.
        var cancelled: Set<UInt64> = []
    }

    private let state = Guarded(State())

    /// Sets the value, and resumes all callers; returns `false` if it was set before.
    ///
    /// With `requiresCaller` it is only set if somebody waits for it.
    @discardableResult
    func fulfil(_ result: Result<Value, EideticError>, requiresCaller: Bool = false) -> Bool {
        let waiters = state.withLock { state -> [UInt64: Waiter]? in
            guard state.result == nil, !requiresCaller || !state.expecting.isEmpty else { return nil }
            state.expecting = []
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters?.values ?? [:].values { waiter.resume(returning: result) }
        return waiters != nil
    }

    /// The value, if it is set.
    var result: Result<Value, EideticError>? { state.withLock { $0.result } }

    /// A Boolean value indicating whether somebody waits for the value, or it is set.
    var isAwaited: Bool { state.withLock { !$0.expecting.isEmpty || $0.result != nil } }

    /// Waits for the value.
    ///
    /// - Parameter onExpectation: A function that is called when the caller counts as waiting.
    /// - Returns: The value.
    /// - Throws: The error that the promise was fulfilled with; `cancelled` as soon as the calling task is cancelled.
    func value(onExpectation: () -> Void = {}) async throws(EideticError) -> Value {
        let number = state.withLock { state in
            state.waiterCount += 1
            if state.result == nil { state.expecting.insert(state.waiterCount) }
            return state.waiterCount
        }
        onExpectation()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number: number, continuation: $0) }
        } onCancel: {
            cancel(number)
        }
        return try result.get()
    }

    private func wait(number: UInt64, continuation: Waiter) {
        let result = state.withLock { state -> Result<Value, EideticError>? in
            if let result = state.result { return result }
            if state.cancelled.remove(number) != nil { return .failure(.cancelled) }
            state.waiters[number] = continuation
            return nil
        }
        if let result { continuation.resume(returning: result) }
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.result == nil else { return nil }
            state.expecting.remove(number)
            let waiter = state.waiters.removeValue(forKey: number)
            if waiter == nil { state.cancelled.insert(number) }
            return waiter
        }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
