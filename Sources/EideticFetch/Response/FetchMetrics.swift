/// How long each phase of a download took, and what went over the wire.
///
/// Moments count from the beginning of the last attempt; a phase that did not happen is zero long.
public struct FetchMetrics: Sendable, Hashable {
    /// Until the host's name was resolved.
    public var nameLookup: Duration = .zero
    /// Until the connection stood; zero where one was reused.
    public var connect: Duration = .zero
    /// Until the TLS session stood; zero without TLS or on a reused connection.
    public var tls: Duration = .zero
    /// Until the first byte of the answer.
    public var firstByte: Duration = .zero
    /// Until the last byte.
    public var total: Duration = .zero
    /// Waiting for a free slot before that.
    public var queued: Duration = .zero
    /// Bytes of the body on the wire, before decompression.
    public var bodyBytes = 0
    /// Bytes of the answer's head.
    public var headerBytes = 0
    /// `HTTP/1.1`, `HTTP/2`.
    public var httpVersion = ""
    /// Whether the connection was open already.
    public var isReusedConnection = false
    /// The address that answered, with its port.
    public var remoteAddress = ""
    /// Redirects that were followed.
    public var redirectCount = 0
    /// Attempts that were made, the last one included.
    public var attemptCount = 1
    /// Bytes that an earlier attempt had left and that were not asked again.
    public var resumedBytes = 0

    /// Creates empty metrics.
    public init() {}
}
