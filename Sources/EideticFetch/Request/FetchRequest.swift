public import EideticCore

/// What to load, and how: all of it is the identity by which equal downloads are shared.
public struct FetchRequest: Sendable, Hashable {
    /// The URL in its normal form: no fragment, no user and password, the host in lower case, of ASCII ("xn--…" where it was
    /// not), and without a dot at its end.
    public let url: String

    /// Scheme, host and port of the URL.
    public let origin: Origin

    /// Header fields for this request; they replace the downloader's own of the same name.
    ///
    /// Empty by default.
    public var headers = HTTPHeaders()

    /// The longest time without a byte; more than zero, 15 seconds by default.
    ///
    /// A long download that keeps coming does not fail. Time in which the process was stopped, or the download was suspended
    /// or held back by a rate limit, does not count. A connection that takes longer than 10 seconds to come about, or
    /// whose other end acknowledges nothing for as long, is given up in any case.
    public var timeout: Duration = .seconds(15)

    /// The longest time for one attempt as a whole, against servers that send a byte now and then.
    ///
    /// Counted like ``timeout``. `nil`, no limit, by default.
    public var totalTimeout: Duration?

    /// The most bytes of a body, after decompression; 128 MiB by default.
    public var byteLimit: ByteCount = .mebibytes(128)

    /// Whether a body that does not begin as a picture is refused as `notAPicture`; true by default.
    public var requiresImage = true

    /// Whether any certificate is accepted, for this request only; false by default.
    public var allowsInvalidCertificates = false

    /// Whether to ask although the URL failed for good before, and to try again after a transport failure (L07).
    ///
    /// False by default.
    public var ignoresFailureList = false

    /// Whether cookies are sent and kept in the downloader's jar; false by default.
    public var usesCookies = false

    /// Who asks; `nil` by default, or what the URL itself names (`http://user:password@host/`).
    public var credentials: Credentials?

    /// Creates a request for `url`.
    ///
    /// White space around the text is dropped, and characters that a URL cannot hold are percent-encoded.
    ///
    /// - Parameter url: An absolute URL with scheme `http` or `https`, of at most 65,536 bytes.
    /// - Throws: `invalidURL`, whose message says what is wrong.
    public init(url: String) throws(EideticError) {
        let parsed = try ParsedURL(url)
        self.url = parsed.text
        origin = parsed.origin
        credentials = parsed.user.map { .basic(user: $0, password: parsed.password ?? "") }
    }

    /// Refuses what cannot be asked for.
    func validate() throws(EideticError) {
        guard timeout > .zero, totalTimeout.map({ $0 > .zero }) ?? true else {
            throw EideticError(.invalidArgument, message: "\(url): a time-out must be longer than zero")
        }
        guard byteLimit >= .zero else {
            throw EideticError(.invalidArgument, message: "\(url): the limit of bytes is negative")
        }
        try headers.validate()
        try credentials?.validate()
    }

    /// Feeds the URL alone: requests that differ in the rest are few.
    public func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
