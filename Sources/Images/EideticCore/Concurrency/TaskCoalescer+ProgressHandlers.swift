extension TaskCoalescer {
    /// The progress handlers of a job.
    ///
    /// Kept apart from the subscribers: a download reports often, and the table of jobs has one lock for all.
    @usableFromInline
    struct ProgressHandlers {
        @usableFromInline var latestProgress: Progress?
        @usableFromInline var handlers: [ObjectIdentifier: @Sendable (Progress) -> Void] = [:]

        @inlinable
        init() {}

        /// Adds a handler, and returns the latest progress, to be reported to it.
        @inlinable
        mutating func add(_ handler: (@Sendable (Progress) -> Void)?, for id: ObjectIdentifier) -> Progress? {
            if let handler { handlers[id] = handler }
            return latestProgress
        }

        @inlinable
        mutating func remove(for id: ObjectIdentifier) { if !handlers.isEmpty { handlers[id] = nil } }
    }
}
