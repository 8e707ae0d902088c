/// The duration of each phase of a download, and the number of bytes transferred.
///
/// Times count from the start of the last attempt. The time of a phase that did not take place is zero.
package struct FetchMetrics: Sendable, Hashable {
    /// The time until the host name was resolved.
    package var nameLookup: Duration = .zero
    /// The time until the connection was established; zero for a reused connection.
    package var connect: Duration = .zero
    /// The time until the TLS handshake was complete; zero without TLS or for a reused connection.
    package var tls: Duration = .zero
    /// The time until the first byte of the response.
    package var firstByte: Duration = .zero
    /// The time until the last byte.
    package var total: Duration = .zero
    /// The time in the queue before that.
    package var queued: Duration = .zero
    /// The number of bytes of the body as transferred, before decompression.
    package var bodyBytes = 0
    /// The number of bytes of the response's header section.
    package var headerBytes = 0
    /// The HTTP version: `HTTP/1.1`, `HTTP/2`.
    package var httpVersion = ""
    package var isReusedConnection = false
    package var remoteAddress = ""
    package var redirectCount = 0
    /// The number of attempts, the last one included.
    package var attemptCount = 1
    /// The number of bytes from an earlier attempt that were not transferred again.
    package var resumedBytes = 0

    /// Creates empty metrics.
    package init() {}
}

/// A reference to metrics, so that copies of a response share them.
final class SharedMetrics: Sendable {
    let metrics: FetchMetrics

    init(_ metrics: FetchMetrics) { self.metrics = metrics }
}
