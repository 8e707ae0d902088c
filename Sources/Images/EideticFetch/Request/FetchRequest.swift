public import EideticCore
public import EideticHTTP
public import struct FoundationEssentials.URL

/// A request for a resource; equal requests share one download.
///
/// Creating one never fails; a download with an invalid URL fails with `invalidURL`.
public struct FetchRequest: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The URL in normal form.
    ///
    /// It has no fragment, no user and no password. The host is in lower case and ASCII ("xn--…" for an international
    /// name), without a trailing dot.
    public let url: String

    /// The scheme, host and port of the URL.
    package let origin: Origin

    /// The reason why the text is no URL; `nil` for a URL.
    package private(set) var invalidity: String?

    /// The header fields of this request; they replace the downloader's fields of the same names.
    ///
    /// Empty by default.
    public var headers = HTTPHeaders()

    /// The request method; `GET` by default.
    ///
    /// `CONNECT`, `HEAD` and `TRACE` are refused. Requests with a non-idempotent method (RFC 9110, section 9.2.2) are
    /// not sent again after a transport failure. Failures of methods other than `GET` are not remembered, and their
    /// responses are not resumed. After a redirect the method becomes `GET`, without a body, as RFC 9110, section 15.4,
    /// specifies (after 303, and for `POST` after 301 and 302).
    public var method = "GET"

    /// The body; `nil`, the default, for none.
    ///
    /// A `GET` request has none. The time for sending it counts for ``timeout``. It is never sent to another origin:
    /// such a redirect is refused.
    public var body: [UInt8]?

    /// The longest time without a received byte; more than zero, 15 seconds by default.
    ///
    /// A long download that keeps receiving bytes does not time out. Time during which the process is stopped, or the
    /// download is suspended or limited in rate, does not count. Regardless of this limit a connection is closed if it
    /// is not established within 10 seconds, or if the server acknowledges nothing for as long.
    public var timeout: Duration = .seconds(15)

    /// The minimum rate in bytes per second, below which the download times out; zero for no limit, 500 by default.
    ///
    /// It is averaged over periods of twice the ``timeout``, from the first byte of the response on. Head and body
    /// count, as transferred. It is measured like ``timeout``.
    public var minimumBytesPerSecond = 500

    /// The longest time for one attempt, which protects against servers that send a byte from time to time.
    ///
    /// It is measured like ``timeout``. `nil`, no limit, by default.
    public var totalTimeout: Duration?

    /// The largest size of the body after decompression; 128 MiB by default.
    public var byteLimit: ByteCount = .mebibytes(128)

    /// A Boolean value indicating whether a body that is not an image fails with `notAnImage`; `true` by default.
    ///
    /// The first bytes of the body are checked, not its content type.
    public var requiresImage = true

    /// A Boolean value indicating whether any certificate is accepted for this request; `false` by default.
    public var allowsInvalidCertificates = false

    /// A Boolean value indicating whether the request is sent even if it has failed permanently before; `false` by
    /// default.
    ///
    /// The request is also retried after temporary failures, as ``Downloader/Configuration/retryPolicy`` specifies, and
    /// sent while the circuit breaker of its origin is open.
    public var ignoresFailureList = false

    /// A Boolean value indicating whether cookies are sent, and stored by the downloader; `false` by default.
    public var usesCookies = false

    /// The credentials to send; those of the URL (`http://user:password@host/`) or `nil` by default.
    public var credentials: Credentials?

    /// The conditions under which the server may confirm a cached response, and the directive to ask for it.
    ///
    /// They follow redirects to other origins, and are no part of what a failure depends on.
    package var conditions = HTTPHeaders()

    /// The cache with the entries of the targets of redirects; `nil` if there is none.
    package var redirectEntries: RedirectEntries?

    /// The results of the `requestModifier` for the load that this request belongs to; `nil` if it is called each time.
    package var modifications: RequestModifications?

    /// A Boolean value indicating whether any response is returned as it is: no redirect is followed, and no status is
    /// an error; `false` by default.
    package var isSingleExchange = false

    /// A Boolean value indicating whether the part of a body outlives a download that is cancelled or fails; `true` by
    /// default.
    package var keepsPart = true

    /// Creates a request for a URL given as text.
    ///
    /// Leading and trailing white space is removed. Characters that are not allowed in a URL are percent-encoded.
    ///
    /// - Parameter url: An absolute URL with the scheme `http` or `https`, of at most 65,536 bytes; the download of any
    ///   other text fails with `invalidURL`.
    public init(_ url: String) {
        do throws(EideticError) {
            try self.init(url: url)
        } catch {
            self.init(invalid: url, because: error.message)
        }
    }

    private init(invalid text: String, because reason: String) {
        url = text
        origin = Origin(scheme: "", host: "", port: 0)
        invalidity = reason
    }

    /// Creates a request for a URL.
    public init(url: URL) { self.init(url.absoluteString) }

    /// Creates a request for a URL from a string literal.
    public init(stringLiteral url: String) { self.init(url) }

    /// Creates a request for a URL given as text.
    ///
    /// - Throws: `invalidURL`; its message has the reason.
    package init(url: String) throws(EideticError) {
        let parsed = try ParsedURL(url)
        self.url = parsed.text
        origin = parsed.origin
        credentials = parsed.user.map { .basic(user: $0, password: parsed.password ?? "") }
    }

    /// The length of the periods for the least rate; one silence of `timeout` leaves half of it.
    var rateWindow: Duration { timeout * 2 }

    /// Throws `invalidArgument` if the request cannot be sent.
    package func validate() throws(EideticError) {
        if let invalidity { throw EideticError(.invalidURL, message: invalidity) }
        try validateMethod()
        guard timeout > .zero, totalTimeout.map({ $0 > .zero }) ?? true else {
            throw EideticError(.invalidArgument, message: "\(url): the time-out must be greater than zero")
        }
        guard minimumBytesPerSecond >= 0 else {
            throw EideticError(.invalidArgument, message: "\(url): minimumBytesPerSecond must not be negative")
        }
        guard byteLimit >= .zero else {
            throw EideticError(.invalidArgument, message: "\(url): byteLimit must not be negative")
        }
        try headers.validateForRequest()
        try credentials?.validate()
    }

    private func validateMethod() throws(EideticError) {
        guard method.isHTTPToken, !["CONNECT", "HEAD", "TRACE"].contains(method) else {
            throw EideticError(.invalidArgument, message: "\(url): the method \"\(method)\" cannot be sent")
        }
        guard body == nil || !isGet else {
            throw EideticError(.invalidArgument, message: "\(url): a request with the method GET has no body")
        }
    }

    /// A Boolean value indicating whether the method is `GET`, whose responses caches keep.
    package var isGet: Bool { method == "GET" }

    /// A Boolean value indicating whether a repetition has the effect of one request.
    ///
    /// - SeeAlso: RFC 9110, section 9.2.2.
    var isIdempotent: Bool { Self.isIdempotent(method) }

    /// Returns whether a server does the same if it receives a request with this method twice.
    package static func isIdempotent(_ method: String) -> Bool { ["GET", "PUT", "DELETE", "OPTIONS"].contains(method) }

    package var cacheControl: CacheControl { CacheControl(headers.fields) }

    /// Feeds the URL into the hasher, because few requests differ in anything else only.
    public func hash(into hasher: inout Hasher) { hasher.combine(url) }
}

/// The key by which equal downloads are coalesced: the request.
///
/// It is an object, because it is passed through all layers and a copy of a request retains dozens of references.
final class DownloadKey: Sendable, Hashable {
    let request: FetchRequest
    /// The hash of the URL alone, because few requests differ in anything else only.
    private let hash: Int

    init(_ request: FetchRequest) {
        self.request = request
        hash = request.url.hashValue
    }

    static func == (left: DownloadKey, right: DownloadKey) -> Bool {
        left === right || left.hash == right.hash && left.request == right.request
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
