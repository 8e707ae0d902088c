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
    @discardableResult
    package func fulfil(_ result: Outcome) -> Bool {
        let waiters = state.withLock { state -> [ObjectIdentifier: Waiter<Outcome>]? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters?.values ?? [:].values { waiter.resume(returning: result) }
        return waiters != nil
    }

    /// The value, if it is set.
    package var result: Outcome? { state.withLock { $0.result } }

    /// Waits for the value.
    ///
    /// - Throws: The error that the promise was fulfilled with; `cancelled` as soon as the calling task is cancelled.
    package func value() async throws(EideticError) -> Value {
        let waiter = Waiter<Outcome>(), id = ObjectIdentifier(waiter)
        let result = state.withLock { state in
            if state.result == nil { state.waiters[id] = waiter }
            return state.result
        }
        if let result { return try result.get() }
        defer { _ = state.withLock { $0.waiters.removeValue(forKey: id) } }
        return try await waiter.value(ifCancelled: .failure(.cancelled)).get()
    }
}
