extension TaskCoalescer {
    /// A job with its subscribers.
    ///
    /// Safe to send: `cancel` and `subscribers` are accessed only while the table of jobs is locked.
    @usableFromInline
    final class ActiveJob: @unchecked Sendable {
        @usableFromInline let id: UInt64
        @usableFromInline let context: JobContext
        @usableFromInline var cancel: (@Sendable () -> Void)?
        @usableFromInline let progressHandlers = Guarded(ProgressHandlers())
        @usableFromInline var subscribers = SubscriberList()

        @inlinable
        init(id: UInt64, context: JobContext) {
            self.id = id
            self.context = context
        }

        /// Adds a subscriber, and returns the latest progress, to be reported to it.
        @inlinable
        func add(_ subscriber: Subscriber) -> Progress? {
            subscribers.add(subscriber)
            return progressHandlers.withLock { $0.add(subscriber.onProgress, for: ObjectIdentifier(subscriber)) }
        }

        /// Removes a subscriber; returns `false` if it is not subscribed.
        @inlinable
        func remove(_ subscriber: Subscriber) -> Bool {
            progressHandlers.withLock { $0.remove(for: ObjectIdentifier(subscriber)) }
            return subscribers.remove(subscriber)
        }

        /// Reports progress to every subscriber.
        @inlinable
        func report(_ progress: Progress) {
            let handlers = progressHandlers.withLock { progressHandlers in
                progressHandlers.latestProgress = progress
                return progressHandlers.handlers
            }
            if handlers.isEmpty { return }
            for handler in handlers.values { handler(progress) }
        }
    }
}
