/// The place at which one task waits for one value.
///
/// The value is set once, before or while the task waits: the first call of ``resume(returning:)`` counts, that of the
/// owner or that of the task's cancellation. So neither can resume the task twice, nor be lost before it waits.
///
/// Inlinable, so that it is specialised in the module that uses it.
@usableFromInline
package final class Waiter<Value: Sendable>: Sendable {
    @usableFromInline
    enum State {
        case initial
        case suspended(UnsafeContinuation<Void, Never>)
        case resumed(Value)
    }

    @usableFromInline let state = Guarded(State.initial)

    @inlinable
    package init() {}

    /// Sets the value and resumes the task; must not be called under a lock.
    ///
    /// - Returns: `true` if this call has set the value; `false` if it was set before, and nothing is changed.
    @inlinable
    @discardableResult
    package func resume(returning value: Value) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            switch state {
            case .resumed: return (false, nil)
            case .initial:
                state = .resumed(value)
                return (true, nil)
            case .suspended(let continuation):
                state = .resumed(value)
                return (true, continuation)
            }
        }
        continuation?.resume()
        return isFirst
    }

    /// Waits until the value is set; the waiter then holds it.
    ///
    /// It must be called by one task only, and once.
    ///
    /// - Parameter onCancel: Called as soon as the task is cancelled, at once if it is so already. It has no effect by
    ///   itself, but may set the value.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package func wait(onCancel: @Sendable () -> Void) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { suspend($0) }
        } onCancel: {
            onCancel()
        }
    }

    /// Waits for the value.
    ///
    /// - Parameter cancelled: The value that a cancellation of the task sets.
    /// - Returns: The value that was set first.
    @inlinable
    nonisolated(nonsending) package func value(ifCancelled cancelled: Value) async -> Value {
        await wait { resume(returning: cancelled) }
        return value
    }

    package var isResumed: Bool {
        state.withLock { state in
            if case .resumed = state { return true }
            return false
        }
    }

    /// The value.
    ///
    /// It is stored here and does not pass through the continuation, because a value that an asynchronous function
    /// awaits takes space in the memory of the suspended function.
    ///
    /// - Precondition: The value is set.
    @inlinable package var value: Value {
        state.withLock { state in
            guard case .resumed(let value) = state else { preconditionFailure("the waiter has no value") }
            return value
        }
    }

    @inlinable
    func suspend(_ continuation: UnsafeContinuation<Void, Never>) {
        let isResumed = state.withLock { state in
            if case .resumed = state { return true }
            state = .suspended(continuation)
            return false
        }
        if isResumed { continuation.resume() }
    }
}
