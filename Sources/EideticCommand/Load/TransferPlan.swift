import Eidetic
import EideticCore
import EideticFetch

/// How a command line wants the network to be asked.
struct TransferPlan: Sendable {
    /// What holds for all downloads.
    let configuration: Downloader.Configuration
    /// Whether no server is asked.
    let isOffline: Bool
    /// Where the metrics go.
    let metricsFile: String?

    private let headers: HTTPHeaders
    private let credentials: Credentials?
    private let isInsecure: Bool

    init(_ arguments: Arguments) {
        var configuration = ImagePipeline.Configuration.standardDownloads
        if let count = arguments[TransferSettings.retry] {
            configuration.alwaysRetries = true
            configuration.retry.attempts = count + 1
        }
        configuration.caFile = arguments[TransferSettings.authority]
        configuration.bytesPerSecond = arguments[TransferSettings.rate]?.bytes
        if let proxy = arguments[TransferSettings.proxy] { configuration.proxy = proxy }
        self.configuration = configuration
        isOffline = arguments.contains(TransferSettings.offline)
        metricsFile = arguments[TransferSettings.metrics]
        headers = HTTPHeaders(arguments.all(TransferSettings.header))
        credentials = arguments[TransferSettings.user]
        isInsecure = arguments.contains(TransferSettings.insecure)
        isLastInFirstOut = arguments.contains(TransferSettings.lifo)
    }

    /// Whether the last of a list is asked for first.
    ///
    /// The list is known as a whole, so it is gone through from its end; what the queue of downloads makes of those that are
    /// started at once plays no part.
    let isLastInFirstOut: Bool

    /// The same origin, asked as the command line says.
    ///
    /// Fields and credentials are the request's own, so that they belong to the identity of what is kept.
    func applied(to origin: ImageOrigin) throws(EideticError) -> ImageOrigin {
        guard case .remote(var request) = origin else { return origin }
        request.headers = request.headers.merging(headers)
        if let credentials { request.credentials = credentials }
        request.allowsInvalidCertificates = isInsecure
        return .remote(request)
    }
}
