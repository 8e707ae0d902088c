import EideticCore
import EideticFetch

/// The receiving end of a stream of a load's events, for one reader.
///
/// Progress and previews are soon outdated: their values are read when their turn comes, so that they do not pile up.
struct EventStream: Sendable {
    fileprivate enum Signal: Sendable {
        case progress
        case preview
        case event(ImageTask.Event)
    }

    private let stream: AsyncStream<Signal>
    private let latest: LatestUpdates

    /// Creates both ends of a stream.
    static func make() -> (stream: EventStream, sink: EventSink) {
        let (stream, continuation) = AsyncStream<Signal>.makeStream()
        let latest = LatestUpdates()
        return (EventStream(stream: stream, latest: latest), EventSink(latest: latest, continuation: continuation))
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), latest: latest) }

    /// An iterator, which ends early if the reading task is cancelled.
    struct Iterator {
        private var base: AsyncStream<Signal>.Iterator
        private let latest: LatestUpdates

        fileprivate init(base: AsyncStream<Signal>.Iterator, latest: LatestUpdates) {
            self.base = base
            self.latest = latest
        }

        mutating func next() async -> ImageTask.Event? {
            while let signal = await base.next() {
                switch signal {
                case .progress: if let progress = latest.progress.consume() { return .progress(progress) }
                case .preview: if let image = latest.preview.consume() { return .preview(image) }
                case .event(let event): return event
                }
            }
            return nil
        }
    }
}

/// The sending end of a stream of events, which does not retain the other end.
struct EventSink: Sendable {
    fileprivate let latest: LatestUpdates
    fileprivate let continuation: AsyncStream<EventStream.Signal>.Continuation

    var id: ObjectIdentifier { ObjectIdentifier(latest) }

    /// Sends an event, or replaces the one of its kind that the reader has not consumed.
    func send(_ event: ImageTask.Event) {
        switch event {
        case .progress(let progress): if latest.progress.replace(with: progress) { continuation.yield(.progress) }
        case .preview(let image): if latest.preview.replace(with: image) { continuation.yield(.preview) }
        case .cached, .finished, .failed: continuation.yield(.event(event))
        }
    }

    /// Sends the terminal event of an outcome, and ends the stream.
    func end(with result: Result<ImageResponse, EideticError>) {
        switch result {
        case .success(let response): send(.finished(response))
        case .failure(let error): send(.failed(error))
        }
        finish()
    }

    /// Ends the stream; events that were sent are still read.
    func finish() { continuation.finish() }

    /// Sets a function that is called when the reader is cancelled, or the stream is released.
    func onCancellation(_ handler: @escaping @Sendable () -> Void) {
        continuation.onTermination = { if case .cancelled = $0 { handler() } }
    }
}

/// The newest progress and preview that the reader has not consumed.
private final class LatestUpdates: Sendable {
    let progress = LatestValue<LoadProgress>()
    let preview = LatestValue<Image>()
}

/// The newest value that was not consumed.
private final class LatestValue<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)

    /// Replaces the value; returns `true` if there was none, so that the reader must be resumed.
    func replace(with newValue: Value) -> Bool {
        // The old value may be large, and is freed outside the lock.
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
