import Eidetic
import EideticCLI
import EideticCore
import EideticFetch
import EideticHTTP

/// The values of the network options of a command line.
struct NetworkArguments: Sendable {
    /// The configuration of the downloader.
    let configuration: Downloader.Configuration
    /// A Boolean value indicating whether no requests are sent.
    let isOffline: Bool
    /// The file for the metrics.
    let metricsFile: String?

    /// A Boolean value indicating whether the URLs that wait for a download start from the end of the list.
    let isLastInFirstOut: Bool

    private let headers: HTTPHeaders
    private let credentials: Credentials?
    private let allowsInvalidCertificates: Bool
    private let timeout: Duration?

    init(_ arguments: Arguments) {
        var configuration = ImagePipeline.Configuration().downloads
        if let count = arguments[NetworkOptions.retry] {
            configuration.alwaysRetries = true
            configuration.retryPolicy.maximumAttempts = count + 1
        }
        configuration.certificateAuthorityFile = arguments[NetworkOptions.certificateAuthority]
        configuration.maximumBytesPerSecond = arguments[NetworkOptions.rateLimit]?.bytes
        if let proxy = arguments[NetworkOptions.proxy] { configuration.proxy = proxy }
        self.configuration = configuration
        isOffline = arguments.contains(NetworkOptions.offline)
        metricsFile = arguments[NetworkOptions.metrics]
        headers = HTTPHeaders(arguments.values(of: NetworkOptions.header))
        credentials = arguments[NetworkOptions.credentials]
        timeout = arguments[CommonOptions.timeout]
        allowsInvalidCertificates = arguments.contains(NetworkOptions.insecure)
        isLastInFirstOut = arguments.contains(NetworkOptions.lifo)
    }

    /// Returns the resource with the headers, credentials and certificate check of the command line.
    ///
    /// They are properties of the request, so that they are a part of the cache key.
    func applied(to resource: ImageRequest.Resource) -> ImageRequest.Resource {
        guard case .remote(var request) = resource else { return resource }
        request.headers = request.headers.merging(headers)
        if let credentials { request.credentials = credentials }
        if let timeout { request.timeout = timeout }
        request.allowsInvalidCertificates = allowsInvalidCertificates
        return .remote(request)
    }
}
