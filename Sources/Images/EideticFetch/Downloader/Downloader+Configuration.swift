public import EideticCore
public import EideticHTTP

extension Downloader {
    /// The order in which downloads of equal priority start.
    public enum ExecutionOrder: Sendable, Hashable {
        /// The oldest request starts first.
        case firstInFirstOut
        /// The newest request starts first: it is the most likely to be visible.
        case lastInFirstOut
    }

    /// The proxy for connections.
    public enum Proxy: Sendable, Hashable {
        /// The proxy of the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        case environment
        /// No proxy: connections are direct.
        case none
        /// The proxy with this URL: `http://`, `https://`, `socks5h://` and the like, with user and password if needed.
        case url(String)
    }

    /// The family of addresses that connections are made to.
    package enum AddressFamily: Sendable, Hashable {
        /// IPv6 and IPv4; the first address to respond is used.
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// The options of a downloader, common to all its downloads.
    public struct Configuration: Sendable {
        /// The client that sends the requests; `nil`, the default, uses libcurl.
        public var network: (any NetworkClient)?

        /// The largest number of concurrent downloads; at least 1, 6 by default.
        public var maximumConcurrent = 6

        /// The largest number of concurrent downloads from one origin; at least 1.
        ///
        /// By default two thirds of ``maximumConcurrent``, so that one slow origin leaves slots for others.
        public var maximumPerHost: Int {
            get { explicitMaximumPerHost ?? Self.standardMaximumPerHost(of: maximumConcurrent) }
            set { explicitMaximumPerHost = newValue }
        }

        /// The value that was set; `nil` for the default.
        var explicitMaximumPerHost: Int?

        static func standardMaximumPerHost(of maximumConcurrent: Int) -> Int { max(1, maximumConcurrent * 2 / 3) }

        /// The largest number of bytes of bodies in memory that are incomplete, or that a pipeline has not decoded yet;
        /// 64 MiB by default.
        ///
        /// Beyond it no further download starts, and the ones in progress are held, except for their first mebibyte and
        /// for one download. So it is exceeded by one body, and by those first bytes. A body counts only against
        /// downloads of its own priority and below.
        package var bodyMemoryLimit: ByteCount = .mebibytes(64)

        /// The order in which downloads of equal priority start; first in, first out by default.
        public var executionOrder = ExecutionOrder.firstInFirstOut

        /// The time in the queue after which a download starts before all others; 30 seconds by default.
        package var starvationLimit: Duration = .seconds(30)

        /// The header fields of every request; fields of the request itself replace them.
        ///
        /// After a redirect to another origin only fields without secrets are sent (`Accept`, `Accept-Language`,
        /// `Accept-Encoding`, `User-Agent`, `Cache-Control`). Empty by default.
        public var headers = HTTPHeaders()

        /// The media types of the `Accept` field, the most preferred first; `image/*` by default.
        ///
        /// `*/*;q=0.8` is appended, because many servers refuse a request otherwise.
        public var acceptedTypes = ["image/*"]

        /// The value of the `User-Agent` field; `eidetic/VERSION` by default.
        public var userAgent = "eidetic/\(Version.current)"

        /// The statuses of responses whose body is returned; 200 to 299 by default.
        ///
        /// Any other status causes the error `httpStatus`. Redirects (followed) and 304 (revalidation) are handled
        /// whatever the set contains; a resumed response has the status 200. A body with a status above 299 is stored
        /// on disk only if RFC 9111, section 3, permits it: with 404 and 410, or with an explicit lifetime.
        public var acceptableStatus = Set(200...299)

        /// The largest number of redirects that are followed; 20 by default.
        public var maximumRedirects = standardMaximumRedirects

        /// The largest number of redirects that browsers follow (Fetch standard, section 4.4).
        package static let standardMaximumRedirects = 20

        /// The path of a PEM file with the certificate authorities to trust.
        ///
        /// `nil`, the default, means the system's authorities.
        public var certificateAuthorityFile: String?

        /// The shortest time between two progress reports of one download; zero, a report for each chunk, by default.
        ///
        /// The first and the last report are always delivered.
        public var minimumProgressInterval: Duration = .zero

        /// The source of the current time; the system's clocks by default.
        package var time: any TimeSource = SystemTime()

        /// The provider of the background tasks that cover the files which the downloader writes.
        ///
        /// When their time expires, downloads into files are cancelled, and parts of bodies are not stored. By default
        /// it is the application of this process.
        package var environment: any BackgroundTaskProvider = DefaultEnvironment.shared

        // Failures.

        /// The policy for retries after temporary failures.
        ///
        /// It applies to requests with ``FetchRequest/ignoresFailureList``, and to all requests if ``alwaysRetries`` is
        /// set.
        public var retryPolicy = RetryPolicy()

        /// A Boolean value indicating whether all downloads are retried after a temporary failure; `false` by default.
        ///
        /// If it is `false`, only requests with ``FetchRequest/ignoresFailureList`` are retried.
        public var alwaysRetries = false

        /// The program's own rule for retries; `nil`, the default, uses ``retryPolicy``.
        ///
        /// It is called after each failed attempt of a request with an idempotent method, with any error except
        /// `cancelled` and `offline`. It runs on Swift's cooperative pool, and must not block.
        ///
        /// The next attempt begins after the returned time, or after `Retry-After` if that is longer. If the rule
        /// returns `nil`, and after the hundredth attempt, the download fails with the last error.
        ///
        /// ```swift
        /// configuration.retryRule = { attempt in
        ///     attempt.error.httpStatus == 404 && attempt.count < 5 ? .seconds(2) : attempt.standardDelay
        /// }
        /// ```
        public var retryRule: (@Sendable (FetchAttempt) -> Duration?)?

        /// A Boolean value indicating whether a download waits for the network instead of failing without one; `false`
        /// by default.
        ///
        /// If the host cannot be resolved or reached, and the machine has no route to other networks, the download is
        /// attempted again as soon as there is a route. This does not count as a retry. Meanwhile the download occupies
        /// no slot, and waits until it is cancelled. Requests with a non-idempotent method, and progressive downloads
        /// that were interrupted, do not wait.
        public var waitsForConnectivity = false

        /// A function that is called when a download begins to wait for the network, once for each wait.
        ///
        /// It is called on Swift's cooperative pool, and must not block.
        package var onWaitingForConnectivity: (@Sendable (FetchRequest) -> Void)?

        /// The routes of the machine; tests replace them.
        package var networkPath: any NetworkPath = SystemNetworkPath()

        /// The largest number of retries in a burst, of all downloads together; 20 by default.
        ///
        /// Each new download returns a tenth of a retry to the budget.
        package var retryBudget = 20

        /// The lifetimes of permanent failures in the failure list.
        package var failurePolicy = FailurePolicy()

        /// A Boolean value indicating whether the downloader observes the network of the machine; `true` by default.
        ///
        /// A change clears the failure list, ends back-offs and replaces connections.
        package var observesNetwork = true

        /// The directory for partial bodies of cancelled or failed downloads; `nil` by default.
        ///
        /// If it is `nil`, they stay in memory, at most 32 MiB in total; a pipeline with a disk cache stores them
        /// there.
        public var partialDirectory: String?

        /// The largest total size of the files in `partialDirectory`; 128 MiB by default.
        package var partialSizeLimit: ByteCount = .mebibytes(128)

        /// The lifetime of the files in `partialDirectory`, and of parts of saved files; 1 day by default.
        package var partialLifetime: Duration = .seconds(86_400)

        // Hooks.

        /// A function that replaces each request before equal requests are coalesced; `nil` by default.
        ///
        /// It is called in the caller's task, and not for redirects.
        public var requestModifier: (@Sendable (FetchRequest) async throws(EideticError) -> FetchRequest)?

        /// A function that returns whether a redirect is followed; by default all valid redirects are.
        ///
        /// It is called for each valid redirect of a chain, when its response has arrived, on a thread of the
        /// downloader, and must return soon. If a redirect is not followed, the download fails with `refused`.
        public var followsRedirect: (@Sendable (FetchRedirect) -> Bool)?

        /// A function that replaces each response, or refuses it by throwing; called before `decryptor`.
        ///
        /// It receives every status, such as 304, 404 and 500, with the body up to the byte limit of the request, but
        /// not redirects that are followed. The status that it returns determines success, retries, and how long a
        /// failure is remembered. Previews are made from the body as it arrives, before this function is called.
        public var responseModifier: (@Sendable (FetchResponse) async throws(EideticError) -> FetchResponse)?

        /// A function that decrypts the body of a response; called on a thread for blocking work.
        public var decryptor: (@Sendable ([UInt8], FetchResponse) throws(EideticError) -> [UInt8])?

        /// A function that returns the credentials for an origin; called for requests and redirects without
        /// credentials.
        public var credentials: (@Sendable (Origin) -> Credentials?)?

        /// A function that receives the result of each download, once for each of its callers.
        ///
        /// It is called on the caller's thread, and must return soon. For images loaded by a pipeline, the trace of the
        /// load contains the network times, too.
        public var onFinish: (@Sendable (FetchRequest, Result<FetchResponse, EideticError>) -> Void)?

        // Connections.

        /// The public keys that a host must present, in libcurl's notation: `sha256//BASE64`; none by default.
        ///
        /// They are checked even if a request allows invalid certificates. Host names are normalised as in
        /// ``FetchRequest/url``.
        ///
        /// - SeeAlso: RFC 7469, section 2.4.
        public var pinnedPublicKeys: [String: [String]] = [:]

        /// The proxy for connections; that of the environment by default.
        public var proxy = Proxy.environment

        /// The family of addresses that connections are made to; any by default.
        package var addressFamily = AddressFamily.any

        /// A Boolean value indicating whether connections into private networks are refused; `false` by default.
        ///
        /// It is meant for servers that load URLs from untrusted users (SSRF). The address of the actual connection is
        /// checked, so that DNS rebinding has no effect. Proxies are not used, because they would choose the address.
        public var refusesPrivateNetworks = false

        /// The largest number of bytes per second for all downloads together; `nil`, no limit, by default.
        public var maximumBytesPerSecond: Int?

        /// The clock for the back-off between attempts; tests replace it.
        package var retryClock: any RetryClock = SystemRetryClock()

        /// The file system for parts of bodies; tests replace it.
        package var fileSystem = FileSystem()

        /// Creates a configuration with default values.
        public init() {}
    }
}
