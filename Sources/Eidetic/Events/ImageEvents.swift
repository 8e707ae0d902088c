import EideticCore
import EideticFetch

/// The events of one load, ended by exactly one terminal event.
///
/// Giving the sequence up, or cancelling the task that iterates it, cancels the load for this caller; a task that is
/// cancelled still gets its terminal event, `failed` with `cancelled`. A caller who is slow misses old progress and old
/// previews, never the end.
public struct ImageTaskEvents: AsyncSequence, Sendable {
    /// What goes through the stream; what is soon out of date is fetched when its turn comes, so that it takes no room.
    fileprivate enum Signal: Sendable {
        case progress
        case preview
        case event(ImageTaskEvent)
    }

    private let stream: AsyncStream<Signal>
    private let latest: LatestUpdates

    /// Runs `load` in a task of its own, and delivers what it reports and how it ends.
    init(
        _ load:
            @escaping @Sendable (
                _ report: @escaping @Sendable (ImageTaskEvent) -> Void
            ) async throws(EideticError) -> ImageResponse
    ) {
        let (stream, continuation) = AsyncStream<Signal>.makeStream()
        let latest = LatestUpdates()
        self.stream = stream
        self.latest = latest
        let task = Task.detached {
            let report: @Sendable (ImageTaskEvent) -> Void = { event in
                switch event {
                case .progress(let progress):
                    if latest.progress.replace(with: progress) { continuation.yield(.progress) }
                case .preview(let image): if latest.preview.replace(with: image) { continuation.yield(.preview) }
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
        private let latest: LatestUpdates
        private var isOver = false

        fileprivate init(base: AsyncStream<Signal>.Iterator, latest: LatestUpdates) {
            self.base = base
            self.latest = latest
        }

        /// The next event; `nil` after the terminal one.
        public mutating func next() async -> ImageTaskEvent? {
            while !isOver {
                switch await base.next() {
                case .progress: if let progress = latest.progress.consume() { return .progress(progress) }
                case .preview: if let image = latest.preview.consume() { return .preview(image) }
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
private final class LatestUpdates: Sendable {
    let progress = LatestValue<FetchProgress>()
    let preview = LatestValue<Image>()
}

/// The newest value that nobody has seen yet.
private final class LatestValue<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)

    /// Keeps `new`; true where the last one had been taken, so that the reader must be told.
    func replace(with newValue: Value) -> Bool {
        // What is replaced may be large, and goes when the lock is free again.
        let old = value.withLock { value in
            defer { value = newValue }
            return value
        }
        return old == nil
    }

    func consume() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
