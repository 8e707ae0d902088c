package import EideticCore
package import EideticHTTP

/// A response whose body is an asynchronous sequence of chunks.
///
/// The download pauses while more than 256 KiB wait to be read, and ends when the stream is released. It is not shared,
/// and retried only until the response is known to be acceptable. A stream can be iterated once. Over HTTP/2 libcurl
/// itself may buffer up to 32 MiB more.
package struct FetchStream: AsyncSequence, Sendable {
    /// The HTTP status: an acceptable one, or 304; any, if a hook decides about it.
    package var status: Int { head.status }
    /// The header fields of the last response.
    package let headers: HTTPHeaders
    /// The URL of the response, after all redirects.
    package let effectiveURL: String
    /// The length of the body; `nil` if the server did not announce it, or if the body is compressed.
    package let expectedLength: Int?

    package let origin: ResponseOrigin
    let head: ResponseHead
    let redirect: Redirect
    /// The moment at which its download began.
    let partOrigin: PartOrigin
    /// The bytes that have arrived and are not read.
    var unreadBytes: [UInt8] { source.channel.unreadBytes }
    private let source: Source

    /// Creates a stream; `onEnd` is called once, with the outcome of the exchange.
    init(
        head: ResponseHead,
        redirect: Redirect,
        source: Source,
        partOrigin: PartOrigin,
        onEnd: @escaping @Sendable (ExchangeOutcome) -> Void
    ) {
        self.head = head
        self.redirect = redirect
        headers = head.headers
        effectiveURL = redirect.url
        origin = ResponseOrigin(redirect: redirect, head: head)
        expectedLength = head.hasContentCoding ? nil : head.contentLength
        self.source = source
        self.partOrigin = partOrigin
        source.onEnd.withLock { $0 = onEnd }
    }

    /// The exchange behind a stream, cancelled with the last reference to it.
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

        /// Reports the outcome, the first time it is called.
        func finish(with outcome: ExchangeOutcome) {
            let report = onEnd.withLock { onEnd in
                defer { onEnd = nil }
                return onEnd
            }
            report?(outcome)
        }
    }

    /// An iterator over the chunks of the body.
    package struct Iterator: AsyncIteratorProtocol {
        let source: Source

        /// Returns the next chunk of the body, or `nil` at its end.
        ///
        /// A chunk has at most 256 KiB and the bytes of one more read.
        ///
        /// - Throws: The error of the download; `cancelled` when the task is cancelled.
        package mutating func next(
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

    package func makeAsyncIterator() -> Iterator { Iterator(source: source) }
}
