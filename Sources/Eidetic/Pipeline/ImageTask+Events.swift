import EideticCore
import EideticFetch

extension ImageTask {
    /// The events of one load, as an asynchronous sequence that ends with exactly one terminal event.
    ///
    /// The load is cancelled when the sequence is released, or when the task that iterates over it is cancelled; such a
    /// task still gets a terminal event, `failed` with `cancelled`. A slow reader misses outdated progress and
    /// previews, but never the terminal event.
    public struct Events: AsyncSequence, Sendable {
        /// An element of the underlying stream.
        ///
        /// Progress and previews are soon outdated: their values are read when their turn comes, so that they do not
        /// pile up.
        fileprivate enum Signal: Sendable {
            case progress
            case preview
            case event(Event)
        }

        private let stream: AsyncStream<Signal>
        private let latest: LatestUpdates

        /// Runs `load` in a task of its own, and delivers its reports and its outcome.
        init(
            _ load:
                @escaping @Sendable (
                    _ report: @escaping @Sendable (Event) -> Void
                ) async throws(EideticError) -> ImageResponse
        ) {
            let (stream, continuation) = AsyncStream<Signal>.makeStream()
            let latest = LatestUpdates()
            self.stream = stream
            self.latest = latest
            let task = Task.detached {
                do throws(EideticError) {
                    let response = try await load { latest.report($0, to: continuation) }
                    continuation.yield(.event(.finished(response)))
                } catch {
                    continuation.yield(.event(.failed(error)))
                }
                continuation.finish()
            }
            continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
        }

        /// Returns an iterator; a sequence must be iterated over only once.
        public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), latest: latest) }

        /// An iterator that delivers the events in their order.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: AsyncStream<Signal>.Iterator
            private let latest: LatestUpdates
            private var isFinished = false

            fileprivate init(base: AsyncStream<Signal>.Iterator, latest: LatestUpdates) {
                self.base = base
                self.latest = latest
            }

            /// Returns the next event; `nil` after the terminal one.
            public mutating func next() async -> Event? {
                while !isFinished {
                    switch await base.next() {
                    case .progress: if let progress = latest.progress.consume() { return .progress(progress) }
                    case .preview: if let image = latest.preview.consume() { return .preview(image) }
                    case .event(let event):
                        isFinished = event.isTerminal
                        return event
                    case nil:
                        isFinished = true
                        return .failed(.cancelled)
                    }
                }
                return nil
            }
        }
    }
}

/// The newest progress and preview that the reader has not consumed.
private final class LatestUpdates: Sendable {
    let progress = LatestValue<FetchProgress>()
    let preview = LatestValue<Image>()

    /// Yields an event, or replaces the one that the reader has not consumed.
    func report(_ event: ImageTask.Event, to continuation: AsyncStream<ImageTask.Events.Signal>.Continuation) {
        switch event {
        case .progress(let value): if progress.replace(with: value) { continuation.yield(.progress) }
        case .preview(let image): if preview.replace(with: image) { continuation.yield(.preview) }
        case .cached, .finished, .failed: continuation.yield(.event(event))
        }
    }
}

/// The newest value that was not consumed.
private final class LatestValue<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)

    /// Replaces the value.
    ///
    /// - Returns: `true` if there was none, so that the reader must be resumed; otherwise, `false`.
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
