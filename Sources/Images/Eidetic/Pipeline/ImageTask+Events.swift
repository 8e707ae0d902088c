public import EideticCore

/// The receiving end of a stream of a load's events, for one reader; it ends early if the reading task is cancelled.
///
/// Progress and previews are soon outdated: their values are read when their turn comes, so that they do not pile up.
typealias EventStream = AsyncCompactMapSequence<AsyncStream<EventSink.Signal>, ImageTask.Event>

/// The sending end of a stream of events, which does not retain the other end.
struct EventSink: Sendable {
    /// A function that returns an event; `nil` for one that was read already.
    typealias Signal = @Sendable () -> ImageTask.Event?

    private let latest = LatestUpdates()
    private let continuation: AsyncStream<Signal>.Continuation

    /// Creates both ends of a stream.
    static func makeStream() -> (stream: EventStream, sink: EventSink) {
        let (stream, continuation) = AsyncStream<Signal>.makeStream()
        return (stream.compactMap { $0() }, EventSink(continuation: continuation))
    }

    var id: ObjectIdentifier { ObjectIdentifier(latest) }

    /// Sends an event, or replaces the one of its kind that the reader has not consumed.
    func send(_ event: ImageTask.Event) {
        switch event {
        case .progress(let progress):
            guard latest.progress.replace(with: progress) else { return }
            continuation.yield { [latest] in latest.progress.consume().map(ImageTask.Event.progress) }
        case .preview(let image):
            guard latest.preview.replace(with: image) else { return }
            continuation.yield { [latest] in latest.preview.consume().map(ImageTask.Event.preview) }
        case .cached, .finished, .failed: continuation.yield { event }
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
        value.withLock { exchange(&$0, with: newValue) } == nil
    }

    func consume() -> Value? { value.withLock { $0.take() } }
}

extension ImageTask {
    /// An event of a load.
    public enum Event: Sendable {
        /// Bytes were received.
        case progress(LoadProgress)

        /// A partial image was decoded from the bytes received so far (`progressive`).
        case preview(Image)

        /// A cache has the image, which is being revalidated (`refreshCached`).
        case cached(ImageResponse)

        /// The image was loaded. A terminal event.
        case finished(ImageResponse)

        /// The image could not be loaded. A terminal event.
        case failed(EideticError)

        package var isTerminal: Bool { result != nil }

        /// The outcome of the load; `nil` unless this is the terminal event.
        var result: Result<ImageResponse, EideticError>? {
            switch self {
            case .progress, .preview, .cached: nil
            case .finished(let response): .success(response)
            case .failed(let error): .failure(error)
            }
        }
    }
}

extension ImageTask.Event {
    /// Returns this event with a decoded image, or the error that prevents the decode.
    ///
    /// A cached image that cannot be decoded becomes `nil`, because the terminal event is still to come.
    func decoded() async -> ImageTask.Event? {
        switch self {
        case .cached(let response):
            guard let decoded = try? await response.decoded() else { return nil }
            return .cached(decoded)
        case .finished(let response):
            do throws(EideticError) { return .finished(try await response.decoded()) } catch { return .failed(error) }
        case .progress, .preview, .failed: return self
        }
    }
}

extension ImageResponse {
    fileprivate func decoded() async throws(EideticError) -> ImageResponse {
        guard !image.isDecoded else { return self }
        var response = self
        response.image = try await image.decoded()
        return response
    }
}

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
