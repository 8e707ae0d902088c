/// A complete answer: status 2xx with its body, or 304 without one.
public struct FetchResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields of the last hop.
    public var headers: HTTPHeaders
    /// The body, decompressed.
    public var bytes: [UInt8]
    /// The URL that answered, after all redirects.
    public var effectiveURL: String
    /// Times and counts.
    public var metrics: FetchMetrics {
        get { measured.metrics }
        set { measured = Measured(newValue) }
    }

    private var measured: Measured

    /// Creates an answer.
    public init(
        status: Int,
        headers: HTTPHeaders,
        bytes: [UInt8],
        effectiveURL: String,
        metrics: FetchMetrics = FetchMetrics()
    ) {
        self.init(status, headers, bytes, effectiveURL, Measured(metrics))
    }

    init(_ status: Int, _ headers: HTTPHeaders, _ bytes: [UInt8], _ effectiveURL: String, _ measured: Measured) {
        self.status = status
        self.headers = headers
        self.bytes = bytes
        self.effectiveURL = effectiveURL
        self.measured = measured
    }
}
