public import EideticCore

/// An answer whose body is read piece by piece while it comes.
///
/// The download is held back when the reader is more than 256 KiB behind, and ends when the stream is given up. It is not
/// shared with others, and not tried again. Iterate once. Over HTTP/2 libcurl itself may hold up to 32 MiB more.
public struct FetchStream: AsyncSequence, Sendable {
    /// The HTTP status: 2xx, or 304.
    public let status: Int
    /// The header fields of the last hop.
    public let headers: HTTPHeaders
    /// The URL that answers, after all redirects.
    public let effectiveURL: String
    /// The length of the body, where the server announced it and it is not compressed.
    public let expectedLength: Int?

    private let source: Source

    /// `onEnd` is told once how it ended.
    init(head: ResponseHead, redirect: Redirect, source: Source, onEnd: @escaping @Sendable (ExchangeOutcome) -> Void) {
        status = head.status
        headers = head.headers
        effectiveURL = redirect.url
        expectedLength = head.hasContentCoding ? nil : head.contentLength
        self.source = source
        source.onEnd.withLock { $0 = onEnd }
    }

    /// The reader's end of a download; when nobody holds it any more, the download ends.
    final class Source: Sendable {
        let id: UInt64
        let channel: BodyChannel
        let scheduler: DownloadScheduler
        fileprivate let onEnd = Guarded<(@Sendable (ExchangeOutcome) -> Void)?>(nil)

        init(id: UInt64, channel: BodyChannel, scheduler: DownloadScheduler) {
            self.id = id
            self.channel = channel
            self.scheduler = scheduler
        }

        deinit {
            scheduler.cancel(id)
            finish(with: .cancelled)
        }

        /// Says how it ended, unless that was said before.
        func finish(with outcome: ExchangeOutcome) {
            let report = onEnd.withLock { onEnd in
                defer { onEnd = nil }
                return onEnd
            }
            report?(outcome)
        }
    }

    /// Reads the body.
    public struct Iterator: AsyncIteratorProtocol {
        let source: Source

        /// The next piece of the body, of at most 256 KiB and what one read brings; `nil` at the end.
        ///
        /// Throws what the download fails with; `cancelled` when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(EideticError) -> [UInt8]? {
            let source = source
            let event = await withTaskCancellationHandler {
                await source.channel.next()
            } onCancel: {
                source.scheduler.cancel(source.id)
            }
            switch event {
            case .bytes(let bytes, let wasFull):
                if wasFull { source.scheduler.post(.readerReady(source.id)) }
                return bytes
            case .end(let outcome):
                source.finish(with: outcome)
                if let error = outcome.error { throw error }
                return nil
            }
        }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }
}
