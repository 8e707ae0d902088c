/// A value that several callers wait for, and that is set once.
///
/// Inlinable, so that it is specialised in the module that uses it.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    @usableFromInline package typealias Outcome = Result<Value, EideticError>

    @usableFromInline
    struct State {
        @usableFromInline var result: Outcome?
        @usableFromInline var waiters: [ObjectIdentifier: Waiter<Outcome>] = [:]

        @inlinable
        init() {}
    }

    @usableFromInline let state = Guarded(State())

    @inlinable
    package init() {}

    /// Sets the value, and resumes all callers; returns `false` if it was set before.
    ///
    /// With `requiresCaller` it is only set if somebody waits for it.
    @inlinable
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
    @inlinable package var result: Outcome? { state.withLock { $0.result } }

    /// A Boolean value indicating whether somebody waits for the value, or it is set.
    @inlinable package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty || $0.result != nil } }

    /// Waits for the value.
    ///
    /// - Parameter onExpectation: A function that is called when the caller counts as waiting.
    /// - Returns: The value.
    /// - Throws: The error that the promise was fulfilled with; `cancelled` as soon as the calling task is cancelled.
    @inlinable
    nonisolated(nonsending) package func value(onExpectation: () -> Void = {}) async throws(EideticError) -> Value {
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
    @inlinable
    func cancel(_ id: ObjectIdentifier) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
