import EideticCore
import EideticFetch

/// The events of one load, ended by exactly one terminal event.
///
/// Giving the sequence up, or cancelling the task that iterates it, cancels the load for this caller; a task that is
/// cancelled still gets its terminal event, `failed` with `cancelled`. A caller who is slow misses old progress, never
/// the end.
public struct ImageEvents: AsyncSequence, Sendable {
    /// What goes through the stream; progress is fetched when its turn comes, so that old progress takes no room.
    fileprivate enum Signal: Sendable {
        case progress
        case event(ImageEvent)
    }

    private let stream: AsyncStream<Signal>
    private let latest: LatestProgress

    /// Runs `load` in a task of its own, and delivers what it reports and how it ends.
    init(
        _ load:
            @escaping @Sendable (
                _ report: @escaping @Sendable (ImageEvent) -> Void
            ) async throws(EideticError) -> ImageResponse
    ) {
        let (stream, continuation) = AsyncStream<Signal>.makeStream()
        let latest = LatestProgress()
        self.stream = stream
        self.latest = latest
        let task = Task.detached {
            let report: @Sendable (ImageEvent) -> Void = { event in
                guard case .progress(let progress) = event else { return _ = continuation.yield(.event(event)) }
                if latest.put(progress) { continuation.yield(.progress) }
            }
            do throws(EideticError) {
                continuation.yield(.event(.finished(try await load(report))))
            } catch {
                continuation.yield(.event(.failed(error)))
            }
            continuation.finish()
        }
        continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
    }

    /// Starts to deliver; make one iterator a sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), latest: latest) }

    /// Delivers the events in their order.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: AsyncStream<Signal>.Iterator
        private let latest: LatestProgress
        private var isOver = false

        fileprivate init(base: AsyncStream<Signal>.Iterator, latest: LatestProgress) {
            self.base = base
            self.latest = latest
        }

        /// The next event; `nil` after the terminal one.
        public mutating func next() async -> ImageEvent? {
            while !isOver {
                switch await base.next() {
                case .progress: if let progress = latest.take() { return .progress(progress) }
                case .event(let event):
                    isOver = event.isTerminal
                    return event
                case nil:
                    isOver = true
                    return .failed(.cancelled)
                }
            }
            return nil
        }
    }
}

/// The newest progress that nobody has seen yet.
private final class LatestProgress: Sendable {
    private let progress = Guarded<FetchProgress?>(nil)

    /// Keeps `new`; true where the last one had been taken, so that the reader must be told.
    func put(_ new: FetchProgress) -> Bool {
        progress.withLock { progress in
            defer { progress = new }
            return progress == nil
        }
    }

    func take() -> FetchProgress? {
        progress.withLock { progress in
            defer { progress = nil }
            return progress
        }
    }
}
