public import EideticHTTP
public import FoundationEssentials

/// A complete response: status 2xx with its body, or status 304 without one.
public struct FetchResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields of the last response.
    public var headers: HTTPHeaders
    /// The body, decompressed.
    public var bytes: [UInt8]
    /// The URL of the response, after all redirects.
    public var effectiveURL: String
    /// The times and the number of bytes of the download.
    package var metrics: FetchMetrics {
        get { sharedMetrics.metrics }
        set { sharedMetrics = SharedMetrics(newValue) }
    }

    private var sharedMetrics: SharedMetrics

    /// The share of the bytes in the limit of all bodies in memory; `nil` for callers outside the package.
    package var share: BodyShare?

    /// The exchanges that led to the response; `nil` for a response that a caller has created.
    package var origin: ResponseOrigin?

    /// The response for a caller outside the package, whose bytes are no longer counted.
    var withoutShare: FetchResponse {
        var response = self
        response.share = nil
        return response
    }

    var withoutBody: FetchResponse {
        var response = withoutShare
        response.bytes = []
        return response
    }

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The header fields.
    ///   - bytes: The body: an array, which is kept without a copy, or other bytes, such as `Data`.
    ///   - effectiveURL: The URL of the response, after all redirects.
    public init(status: Int, headers: HTTPHeaders, bytes: some ContiguousBytes, effectiveURL: String) {
        let bytes = bytes as? [UInt8] ?? bytes.withUnsafeBytes { Array($0) }
        self.init(status: status, headers: headers, bytes: bytes, effectiveURL: effectiveURL, metrics: FetchMetrics())
    }

    package init(
        status: Int,
        headers: HTTPHeaders,
        bytes: [UInt8],
        effectiveURL: String,
        metrics: FetchMetrics
    ) {
        self.init(
            status: status,
            headers: headers,
            bytes: bytes,
            effectiveURL: effectiveURL,
            sharedMetrics: SharedMetrics(metrics)
        )
    }

    init(status: Int, headers: HTTPHeaders, bytes: [UInt8], effectiveURL: String, sharedMetrics: SharedMetrics) {
        share = nil
        origin = nil
        self.status = status
        self.headers = headers
        self.bytes = bytes
        self.effectiveURL = effectiveURL
        self.sharedMetrics = sharedMetrics
    }
}
