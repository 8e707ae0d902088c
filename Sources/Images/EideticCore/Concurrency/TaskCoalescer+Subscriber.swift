extension TaskCoalescer {
    /// A waiting caller, completed exactly once: by the job, or by the caller's cancellation.
    @usableFromInline
    package final class Subscriber: Sendable {
        /// The identity of the requested job.
        @usableFromInline package let key: Key
        @usableFromInline let context: JobContext
        @usableFromInline let onProgress: (@Sendable (Progress) -> Void)?
        @usableFromInline let waiter = Waiter<Outcome>()

        @inlinable
        init(key: Key, context: JobContext, onProgress: (@Sendable (Progress) -> Void)?) {
            self.key = key
            self.context = context
            self.onProgress = onProgress
        }

        /// The result.
        ///
        /// - Precondition: The subscriber was completed.
        @inlinable package var outcome: Outcome { waiter.value }

        /// Sets the result; later calls have no effect.
        @inlinable
        func complete(with outcome: Outcome) { waiter.resume(returning: outcome) }
    }
}
