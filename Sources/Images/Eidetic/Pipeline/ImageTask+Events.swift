import EideticCore

extension ImageTask {
    /// The events of the load: progress, previews, and exactly one terminal event.
    ///
    /// Each access creates an independent sequence. The first one of a task from ``ImagePipeline/task(for:)`` has all
    /// events of the load. Any other one begins with the current state: the cached image, the latest progress and
    /// preview, or the outcome.
    ///
    /// Cancelling the Swift task that iterates over a sequence cancels the load; the sequence still ends with a
    /// terminal event, `failed` with `cancelled`. A slow reader misses outdated progress and previews, but never the
    /// terminal event. A sequence must be iterated over only once.
    public var events: some AsyncSequence<Event, Never> & Sendable { Events(of: self, stream: makeFirstStream()) }

    struct Events: AsyncSequence, Sendable {
        private let task: ImageTask
        private let stream: EventStream

        init(of task: ImageTask, stream: EventStream) { (self.task, self.stream) = (task, stream) }

        func makeAsyncIterator() -> Iterator { Iterator(task: task, base: stream.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            private let task: ImageTask
            private var base: EventStream.Iterator
            private var isFinished = false

            fileprivate init(task: ImageTask, base: EventStream.Iterator) { (self.task, self.base) = (task, base) }

            /// Returns the next event; `nil` after the terminal one.
            mutating func next() async -> Event? {
                guard !isFinished else { return nil }
                guard let event = await base.next() else {
                    isFinished = true
                    task.cancelLater()
                    return .failed(.cancelled)
                }
                isFinished = event.isTerminal
                return event
            }
        }
    }
}
