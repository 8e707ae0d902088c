import EideticCore
import EideticFetch

/// The events of one load, ended by exactly one terminal event.
///
/// Giving the sequence up, or cancelling the task that iterates it, cancels the load for this caller; a task that is
/// cancelled still gets its terminal event, `failed` with `cancelled`. A caller who is slow misses old progress and old
/// previews, never the end.
public struct ImageEvents: AsyncSequence, Sendable {
    /// What goes through the stream; what is soon out of date is fetched when its turn comes, so that it takes no room.
    fileprivate enum Signal: Sendable {
        case progress
        case preview
        case event(ImageEvent)
    }

    private let stream: AsyncStream<Signal>
    private let latest: LatestNews

    /// Runs `load` in a task of its own, and delivers what it reports and how it ends.
    init(
        _ load:
            @escaping @Sendable (
                _ report: @escaping @Sendable (ImageEvent) -> Void
            ) async throws(EideticError) -> ImageResponse
    ) {
        let (stream, continuation) = AsyncStream<Signal>.makeStream()
        let latest = LatestNews()
        self.stream = stream
        self.latest = latest
        let task = Task.detached {
            let report: @Sendable (ImageEvent) -> Void = { event in
                switch event {
                case .progress(let progress): if latest.progress.put(progress) { continuation.yield(.progress) }
                case .preview(let image): if latest.preview.put(image) { continuation.yield(.preview) }
                case .cached, .finished, .failed: continuation.yield(.event(event))
                }
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
        private let latest: LatestNews
        private var isOver = false

        fileprivate init(base: AsyncStream<Signal>.Iterator, latest: LatestNews) {
            self.base = base
            self.latest = latest
        }

        /// The next event; `nil` after the terminal one.
        public mutating func next() async -> ImageEvent? {
            while !isOver {
                switch await base.next() {
                case .progress: if let progress = latest.progress.take() { return .progress(progress) }
                case .preview: if let image = latest.preview.take() { return .preview(image) }
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

/// What the reader has not seen yet of what changes while a load goes on.
private final class LatestNews: Sendable {
    let progress = Latest<FetchProgress>()
    let preview = Latest<Image>()
}

/// The newest value that nobody has seen yet.
private final class Latest<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)

    /// Keeps `new`; true where the last one had been taken, so that the reader must be told.
    func put(_ new: Value) -> Bool {
        // What is replaced may be large, and goes when the lock is free again.
        let old = value.withLock { value in
            defer { value = new }
            return value
        }
        return old == nil
    }

    func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
