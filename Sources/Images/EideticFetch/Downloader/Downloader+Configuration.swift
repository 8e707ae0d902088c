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

    /// The proxy that connections are made through.
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
        /// The network over which requests are sent; `nil`, the default, for libcurl.
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
        /// Any other status is the error `httpStatus`. Redirects are followed, and 304 confirms what a cache has,
        /// whatever the set contains; the response of a body that is resumed has the status 200. A body with a status
        /// beyond 299 is stored on disk only if RFC 9111, section 3, allows it, as for 404 and 410, or for any status
        /// with an explicit lifetime.
        public var acceptableStatus = Set(200...299)

        /// The largest number of redirects that are followed; 20 by default.
        public var maximumRedirects = standardMaximumRedirects

        /// The largest number of redirects that browsers follow (Fetch standard, section 4.4).
        package static let standardMaximumRedirects = 20

        /// The path of a PEM file with the certificate authorities to trust.
        ///
        /// `nil`, the authorities of the system, by default.
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

        /// The policy for retries after transient failures.
        ///
        /// It applies to requests with ``FetchRequest/ignoresFailureList``, and to all requests if ``alwaysRetries`` is
        /// set.
        public var retryPolicy = RetryPolicy()

        /// A Boolean value indicating whether all downloads are retried after a transient failure; `false` by default.
        ///
        /// Otherwise only requests with ``FetchRequest/ignoresFailureList`` are.
        public var alwaysRetries = false

        /// The program's own rule for retries; `nil`, the default, for ``retryPolicy``.
        ///
        /// It is called after each failed attempt of a request with an idempotent method, also with errors that are
        /// otherwise not attempted again, but not with `cancelled` and `offline`; on Swift's cooperative pool, so it
        /// must not block. The next attempt begins after the time that it returns, at the earliest after `Retry-After`;
        /// the error is that of the download if it returns `nil`, and after the hundredth attempt.
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
        /// A download that fails because its host is not found or cannot be reached, while the machine has no route to
        /// other networks, is attempted again as soon as there is one, without counting as a retry. It holds no slot
        /// meanwhile, and waits until it is cancelled. Requests with a method that is not idempotent, and bodies that
        /// break off as they are shown piece by piece, do not wait.
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

        /// The directory for parts of downloads that were cancelled or have failed; `nil` by default.
        ///
        /// Without one they stay in memory, at most 32 MiB; a pipeline with a disk cache stores them there.
        public var partialDirectory: String?

        /// The largest total size of the files in `partialDirectory`; 128 MiB by default.
        package var partialSizeLimit: ByteCount = .mebibytes(128)

        /// The lifetime of the files in `partialDirectory`, and of parts of saved files; 1 day by default.
        package var partialLifetime: Duration = .seconds(86_400)

        // Hooks.

        /// A function that replaces each request before it is sent, and before equal requests are coalesced.
        ///
        /// It is called in the task of the caller, and not for redirects.
        public var requestModifier: (@Sendable (FetchRequest) async throws(EideticError) -> FetchRequest)?

        /// A function that returns whether a redirect is followed; every one is by default.
        ///
        /// It is called for each redirect of a chain that is valid, when its response has arrived, on a thread of the
        /// downloader, and must return soon. A download whose redirect is not followed fails with `refused`.
        public var followsRedirect: (@Sendable (FetchRedirect) -> Bool)?

        /// A function that replaces each response, or refuses it by throwing; called before `decryptor`.
        ///
        /// It sees every status, as 304, 404 and 500, with the body up to the byte limit of the request; redirects that
        /// are followed are not passed to it. The status that it returns decides: about success, a retry, and how long
        /// a failure is remembered. Previews are made of the body as it arrives, before this function is called.
        public var responseModifier: (@Sendable (FetchResponse) async throws(EideticError) -> FetchResponse)?

        /// A function that decrypts the body of a response; called on a thread for blocking work.
        public var decryptor: (@Sendable ([UInt8], FetchResponse) throws(EideticError) -> [UInt8])?

        /// A function that returns the credentials for an origin; called for requests and redirects without
        /// credentials.
        public var credentials: (@Sendable (Origin) -> Credentials?)?

        /// A function that receives the result of each download, once for each of its callers.
        ///
        /// It is called on the thread of the caller and must return soon. The trace of a load has the network
        /// times of an image that a pipeline loads.
        public var onFinish: (@Sendable (FetchRequest, Result<FetchResponse, EideticError>) -> Void)?

        // Connections.

        /// The public keys that a host must present, as libcurl writes them: `sha256//BASE64`.
        ///
        /// They are checked even if a request allows invalid certificates. All spellings of a host are equivalent, here
        /// and in a URL: see ``FetchRequest/url``.
        ///
        /// - SeeAlso: RFC 7469, section 2.4.
        public var pinnedPublicKeys: [String: [String]] = [:]

        /// The proxy that connections are made through; the proxy of the environment by default.
        public var proxy = Proxy.environment

        /// The family of addresses that connections are made to; any by default.
        package var addressFamily = AddressFamily.any

        /// A Boolean value indicating whether connections into private networks are refused; `false` by default.
        ///
        /// It is meant for servers that load URLs from untrusted users. The address of the connection itself is
        /// checked, so that a host name cannot resolve to another address between check and use. Proxies are not used,
        /// because they would choose the address.
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
