import EideticCore

/// The events of one load, ended by exactly one terminal event.
///
/// Giving the sequence up, or cancelling the task that iterates it, cancels the load for this caller; a task that is
/// cancelled still gets its terminal event, `failed` with `cancelled`. A caller who is slow misses old progress, never
/// the end.
public struct ImageEvents: AsyncSequence, Sendable {
    private let stream: AsyncStream<ImageEvent>

    /// Runs `load` in a task of its own, and delivers what it reports and how it ends.
    init(
        _ load:
            @escaping @Sendable (
                _ report: @escaping @Sendable (ImageEvent) -> Void
            ) async throws(EideticError) -> ImageResponse
    ) {
        let (stream, continuation) = AsyncStream<ImageEvent>.makeStream(bufferingPolicy: .bufferingNewest(16))
        self.stream = stream
        let task = Task.detached {
            do throws(EideticError) {
                continuation.yield(.finished(try await load { continuation.yield($0) }))
            } catch {
                continuation.yield(.failed(error))
            }
            continuation.finish()
        }
        continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
    }

    /// Starts to deliver; make one iterator a sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

    /// Delivers the events in their order.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<ImageEvent>.Iterator
        var isOver = false

        /// The next event; `nil` after the terminal one.
        public mutating func next() async -> ImageEvent? {
            if isOver { return nil }
            let event = await base.next() ?? .failed(.cancelled)
            isOver = event.isTerminal
            return event
        }
    }
}
