import EideticCore

/// One exchange with a server, as the engine is asked for it: no redirects, no retries.
struct TransferOrder: Sendable {
    let id: UInt64
    let url: String
    let origin: Origin
    /// All fields that go out, the downloader's own included.
    var headers: HTTPHeaders
    let timeout: Duration
    let totalTimeout: Duration?
    let byteLimit: Int
    let requiresPicture: Bool
    let allowsInvalidCertificates: Bool
    let usesCookies: Bool
    let credentials: Credentials?
    /// Called on the engine's thread.
    var onProgress: @Sendable (FetchProgress) -> Void
    /// Called once, on the engine's thread.
    var completion: @Sendable (TransferOutcome) -> Void
}

/// The head of an answer.
struct ResponseHead: Sendable, Hashable {
    var status = 0
    var reason = ""
    var headers = HTTPHeaders()

    /// The length that the head announces; `nil` where it has none, or one that cannot be read.
    var contentLength: Int? { headers["Content-Length"].flatMap(Int.init).flatMap { $0 < 0 ? nil : $0 } }

    /// Whether the body is compressed for the way, so that its length says nothing about what comes out.
    var isEncoded: Bool { headers["Content-Encoding"].map { $0.lowercased() != "identity" } ?? false }
}

/// What came of an exchange.
struct TransferOutcome: Sendable {
    /// `nil` where the answer's head never came.
    var head: ResponseHead?
    /// What came of the body; a part of it where there is an error.
    var body: [UInt8] = []
    /// `nil` where the exchange was complete, whatever its status.
    var error: EideticError?
    var metrics = FetchMetrics()
    /// Where a redirect leads, as an absolute URL.
    var redirect: String?
    /// Whether the process was stopped while the exchange was under way.
    var wasStopped = false

    static let cancelled = TransferOutcome(error: .cancelled)
}
