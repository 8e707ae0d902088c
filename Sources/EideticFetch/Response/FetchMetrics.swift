/// The duration of each phase of a download, and the number of bytes transferred.
///
/// Times count from the start of the last attempt. The time of a phase that did not take place is zero.
public struct FetchMetrics: Sendable, Hashable {
    /// The time until the host name was resolved.
    public var nameLookup: Duration = .zero
    /// The time until the connection was established; zero for a reused connection.
    public var connect: Duration = .zero
    /// The time until the TLS handshake was complete; zero without TLS or for a reused connection.
    public var tls: Duration = .zero
    /// The time until the first byte of the response.
    public var firstByte: Duration = .zero
    /// The time until the last byte.
    public var total: Duration = .zero
    /// The time in the queue before that.
    public var queued: Duration = .zero
    /// The number of bytes of the body as transferred, before decompression.
    public var bodyBytes = 0
    /// The number of bytes of the response's header section.
    public var headerBytes = 0
    /// The HTTP version: `HTTP/1.1`, `HTTP/2`.
    public var httpVersion = ""
    /// A Boolean value indicating whether the connection was reused.
    public var isReusedConnection = false
    /// The address and the port of the server.
    public var remoteAddress = ""
    /// The number of redirects that were followed.
    public var redirectCount = 0
    /// The number of attempts, the last one included.
    public var attemptCount = 1
    /// The number of bytes from an earlier attempt that were not transferred again.
    public var resumedBytes = 0

    /// Creates empty metrics.
    public init() {}
}
