import EideticCore

/// One exchange with a server, as the engine is asked for it: no redirects, no retries.
struct TransferOrder: Sendable {
    let id: UInt64
    let url: String
    let origin: Origin
    /// All fields that go out, the downloader's own included.
    var headers = HTTPHeaders()
    let timeout: Duration
    let totalTimeout: Duration?
    let byteLimit: Int
    var requiresPicture = true
    let allowsInvalidCertificates: Bool
    let usesCookies: Bool
    var credentials: Credentials?
    /// What is there already; the rest was asked for.
    var partial: PartialBody?
    /// Where the body goes piece by piece; `nil` where it is collected.
    var channel: BodyChannel?
    /// The file that the body goes to piece by piece; `nil` where it is collected.
    var file: String?
    /// How long it waited for a slot.
    var queued: Duration = .zero
    /// Called on the engine's thread.
    var onProgress: @Sendable (FetchProgress) -> Void = { _ in }
    /// Called once, on the engine's thread or on that of the one who cancels.
    var completion: @Sendable (TransferOutcome) -> Void

    init(id: UInt64, hop: Hop, completion: @escaping @Sendable (TransferOutcome) -> Void) {
        self.id = id
        url = hop.url
        origin = hop.origin
        timeout = hop.request.timeout
        totalTimeout = hop.request.totalTimeout
        byteLimit = hop.request.byteLimit.bytes
        allowsInvalidCertificates = hop.request.allowsInvalidCertificates
        usesCookies = hop.request.usesCookies
        self.completion = completion
    }
}

/// The head of an answer.
struct ResponseHead: Sendable, Hashable {
    var status = 0
    var reason = ""
    var headers = HTTPHeaders()

    /// Whether the body is wanted: that of an error page is not.
    var isSuccess: Bool { (200..<300).contains(status) }

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
    /// Whether it was held back for a time, so that its own time says nothing about the server.
    var wasHeld = false
    /// Whether the server sent another part of the body than it was asked for.
    var isWrongRange = false

    static let cancelled = TransferOutcome(error: .cancelled)
}
