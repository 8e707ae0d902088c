public import EideticCore

extension Downloader {
    /// Which of two equally urgent downloads starts first.
    public enum ExecutionOrder: Sendable, Hashable {
        /// The one that was asked for first.
        case firstInFirstOut
        /// The one that was asked for last: what the user looks at now.
        case lastInFirstOut
    }

    /// Through which proxy connections are made.
    public enum Proxy: Sendable, Hashable {
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
        case environment
        /// None.
        case none
        /// This one: `http://`, `https://`, `socks5h://` and the like, with user and password where needed.
        case url(String)
    }

    /// Which kind of addresses is used.
    public enum AddressFamily: Sendable, Hashable {
        /// IPv6 and IPv4, whichever answers first.
        case any
        /// IPv4 alone.
        case ipv4
        /// IPv6 alone.
        case ipv6
    }

    /// What holds for all downloads of a downloader.
    public struct Configuration: Sendable {
        /// The most downloads at once; at least 1, 6 by default.
        public var maximumConcurrent = 6

        /// The most downloads at once from one origin; at least 1, without a limit of its own by default.
        public var maximumPerHost = Int.max

        /// Which of equally urgent downloads starts first; first in, first out by default.
        public var executionOrder = ExecutionOrder.firstInFirstOut

        /// After so long in the queue a download goes before all others; 30 seconds by default.
        public var starvationLimit: Duration = .seconds(30)

        /// Header fields of every request; those of the request itself replace them.
        ///
        /// They do not follow a redirect to another origin, but for those that any stranger may read (`Accept` and
        /// `Accept-Language`, `User-Agent`, `Cache-Control`). Empty by default.
        public var headers = HTTPHeaders()

        /// The media types that can be used, best first: the `Accept` field is made of them; `image/*` by default.
        ///
        /// `*/*;q=0.8` is added, since many servers know no better than to refuse otherwise.
        public var acceptedTypes = ["image/*"]

        /// The `User-Agent` field; `eidetic/VERSION` by default.
        public var userAgent = "eidetic/\(Version.current)"

        /// The most redirects that are followed; 10 by default.
        public var maximumRedirects = 10

        /// A file of certificates (PEM) to trust instead of the system's; `nil`, the system's, by default.
        public var certificateAuthorityFile: String?

        /// The shortest time between two reports of progress of one download; zero, every piece, by default.
        ///
        /// The first and the last report always come.
        public var minimumProgressInterval: Duration = .zero

        /// The clocks; the system's by default.
        public var time: any TimeSource = SystemTime()

        // Failures.

        /// When a download is tried again after a failure that may pass.
        ///
        /// It holds for requests with ``FetchRequest/retriesFailed``, and for all where ``alwaysRetries`` is set.
        public var retryPolicy = RetryPolicy()

        /// Whether all downloads are tried again, and not only those whose request asks for it; false by default.
        public var alwaysRetries = false

        /// How many further attempts all downloads together may make in a burst; 20 by default.
        ///
        /// Each new download gives back a tenth of an attempt.
        public var retryBudget = 20

        /// For how long a URL that failed for good is not asked again.
        public var failurePolicy = FailurePolicy()

        /// Whether changes of the machine's network clear the list of failures, end waits and make connections anew.
        ///
        /// True by default.
        public var observesNetwork = true

        /// Where beginnings of broken downloads are kept on disk; `nil`, they are not, by default.
        public var partialDirectory: String?

        /// The most bytes kept there; 128 MiB by default.
        public var partialSizeLimit: ByteCount = .mebibytes(128)

        /// How long they are kept; 1 day by default.
        public var partialLifetime: Duration = .seconds(86_400)

        // Hooks.

        /// Changes each request before anything is done with it, and before equal ones are shared.
        ///
        /// Called in the caller's task; redirects are not asked again.
        public var requestModifier: (@Sendable (FetchRequest) async throws(EideticError) -> FetchRequest)?

        /// Changes each accepted answer, or refuses it by throwing; called before `decryptor`.
        public var responseModifier: (@Sendable (FetchResponse) async throws(EideticError) -> FetchResponse)?

        /// Makes the picture's bytes of those that came; called on a thread for such work.
        public var decryptor: (@Sendable ([UInt8], FetchResponse) throws(EideticError) -> [UInt8])?

        /// Who asks at an origin, for requests that do not say so themselves; also asked for each redirect.
        public var credentials: (@Sendable (Origin) -> Credentials?)?

        /// Told how each download ended, for each of its callers; called on the caller's thread, and must return soon.
        ///
        /// This is where a program that loads pictures finds the times of the network: ``FetchResponse/metrics``.
        public var onFinish: (@Sendable (FetchRequest, Result<FetchResponse, EideticError>) -> Void)?

        // The way.

        /// Public keys that a host must show, as libcurl writes them: `sha256//BASE64`.
        ///
        /// They are looked at even where a request allows invalid certificates. However a host is written, here and in a
        /// URL, it is the same host: see ``FetchRequest/url``.
        ///
        /// - SeeAlso: RFC 7469, section 2.4.
        public var pinnedPublicKeys: [String: [String]] = [:]

        /// Which proxy is used; the one that the environment names by default.
        public var proxy = Proxy.environment

        /// Which kind of addresses is used; any by default.
        public var addressFamily = AddressFamily.any

        /// Whether connections into private networks are refused; false by default.
        ///
        /// For servers that load what strangers name. The address that is really connected to is looked at, so that a
        /// name cannot lead elsewhere between check and use. Proxies are not used then, since they would choose the
        /// address.
        public var refusesPrivateNetworks = false

        /// The most bytes a second, all downloads together; `nil`, no limit, by default.
        public var maximumBytesPerSecond: Int?

        /// What waits between attempts; tests put in their own.
        package var retryClock: any RetryClock = SystemRetryClock()

        /// The file layer for beginnings of downloads; tests put in their own.
        package var fileSystem = FileSystem()

        /// Creates a configuration with the defaults above.
        public init() {}
    }
}
