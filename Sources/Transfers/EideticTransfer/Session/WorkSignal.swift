/// A flag that one loop waits for; signals that come while it works are joined into one.
final class WorkSignal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func send() { continuation.yield() }

    /// Returns the iterator of the one loop; `next` waits for a signal.
    func makeIterator() -> AsyncStream<Void>.AsyncIterator { stream.makeAsyncIterator() }
}
