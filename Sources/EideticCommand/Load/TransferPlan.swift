import Eidetic
import EideticCore
import EideticFetch

/// How a command line wants the network to be asked.
struct NetworkArguments: Sendable {
    /// What holds for all downloads.
    let configuration: Downloader.Configuration
    /// Whether no server is asked.
    let isOffline: Bool
    /// Where the metrics go.
    let metricsFile: String?

    private let headers: HTTPHeaders
    private let credentials: Credentials?
    private let allowsInvalidCertificates: Bool

    init(_ arguments: Arguments) {
        var configuration = ImagePipeline.Configuration.standardDownloaderConfiguration
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
        allowsInvalidCertificates = arguments.contains(NetworkOptions.insecure)
        isLastInFirstOut = arguments.contains(NetworkOptions.lifo)
    }

    /// Whether the last of a list is asked for first.
    ///
    /// The list is known as a whole, so it is gone through from its end; what the queue of downloads makes of those that are
    /// started at once plays no part.
    let isLastInFirstOut: Bool

    /// The same origin, asked as the command line says.
    ///
    /// Fields and credentials are the request's own, so that they belong to the identity of what is kept.
    func applied(to origin: ImageResource) throws(EideticError) -> ImageResource {
        guard case .remote(var request) = origin else { return origin }
        request.headers = request.headers.merging(headers)
        if let credentials { request.credentials = credentials }
        request.allowsInvalidCertificates = isInsecure
        return .remote(request)
    }
}
