extension TaskCoalescer {
    /// A waiting caller, completed exactly once: by the job, or by the caller's cancellation.
    @usableFromInline
    package final class Subscriber: Sendable {
        @usableFromInline
        enum State {
            case initial
            case waiting(UnsafeContinuation<Void, Never>)
            case completed(Outcome)

            @inlinable var isCompleted: Bool { if case .completed = self { true } else { false } }
        }

        /// The identity of the requested job.
        @usableFromInline package let key: Key
        @usableFromInline let context: JobContext
        @usableFromInline let onProgress: (@Sendable (Progress) -> Void)?
        @usableFromInline let state = Guarded(State.initial)

        @inlinable
        init(key: Key, context: JobContext, onProgress: (@Sendable (Progress) -> Void)?) {
            self.key = key
            self.context = context
            self.onProgress = onProgress
        }

        /// Suspends the caller until the result is set; resumes it at once if it already is.
        @inlinable
        func suspend(_ continuation: UnsafeContinuation<Void, Never>) {
            let isCompleted = state.withLock { state in
                if case .completed = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isCompleted { continuation.resume() }
        }

        /// The result.
        ///
        /// It is stored here and does not pass through the continuation, because a value that an asynchronous function
        /// awaits takes space in the memory of the suspended function.
        ///
        /// - Precondition: The subscriber was completed.
        @inlinable package var outcome: Outcome {
            state.withLock { state in
                guard case .completed(let outcome) = state else {
                    preconditionFailure("the subscriber is not completed")
                }
                return outcome
            }
        }

        /// Sets the result; later calls have no effect.
        @inlinable
        func complete(with outcome: Outcome) {
            let waiting = state.withLock { state -> UnsafeContinuation<Void, Never>? in
                defer { if !state.isCompleted { state = .completed(outcome) } }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume()
        }
    }
}
