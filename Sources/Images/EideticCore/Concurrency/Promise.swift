/// A value that several callers wait for, and that is set once.
package final class Promise<Value: Sendable>: Sendable {
    package typealias Outcome = Result<Value, EideticError>

    private struct State {
        var result: Outcome?
        var waiters: [ObjectIdentifier: Waiter<Outcome>] = [:]
    }

    private let state = Guarded(State())

    package init() {}

    /// Sets the value, and resumes all callers; returns `false` if it was set before.
    ///
    /// With `requiresCaller` it is only set if somebody waits for it.
    @discardableResult
    package func fulfil(_ result: Outcome, requiresCaller: Bool = false) -> Bool {
        let waiters = state.withLock { state -> [ObjectIdentifier: Waiter<Outcome>]? in
            guard state.result == nil, !requiresCaller || !state.waiters.isEmpty else { return nil }
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters?.values ?? [:].values { waiter.resume(returning: result) }
        return waiters != nil
    }

    /// The value, if it is set.
    package var result: Outcome? { state.withLock { $0.result } }

    /// A Boolean value indicating whether somebody waits for the value, or it is set.
    package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty || $0.result != nil } }

    /// Waits for the value.
    ///
    /// - Parameter onExpectation: A function that is called when the caller counts as waiting.
    /// - Returns: The value.
    /// - Throws: The error that the promise was fulfilled with; `cancelled` as soon as the calling task is cancelled.
    package func value(onExpectation: () -> Void = {}) async throws(EideticError) -> Value {
        let waiter = Waiter<Outcome>()
        let id = ObjectIdentifier(waiter)
        let result = state.withLock { state in
            if state.result == nil { state.waiters[id] = waiter }
            return state.result
        }
        onExpectation()
        if let result { return try result.get() }
        await waiter.wait { cancel(id) }
        return try waiter.value.get()
    }

    /// Ends the wait of one caller, who no longer counts as waiting from now on.
    private func cancel(_ id: ObjectIdentifier) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
