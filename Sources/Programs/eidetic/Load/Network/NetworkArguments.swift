import Eidetic
import EideticCLI
import EideticCore
import EideticCore
import EideticFetch
import EideticHTTP

/// The values of the network options of a command line.
struct NetworkArguments: Sendable {
    let configuration: Downloader.Configuration
    /// A Boolean value indicating whether no requests are sent.
    let isOffline: Bool
    /// A Boolean value indicating whether cached images are used by the rules of HTTP.
    let isHTTP: Bool
    let metricsFile: String?

    /// A Boolean value indicating whether the URLs that wait for a download start from the end of the list.
    let isLastInFirstOut: Bool

    private let headers: HTTPHeaders
    private let credentials: UserCredentials
    private let allowsInvalidCertificates: Bool
    private let timeout: Duration?

    /// Reads the values, and files with passwords; blocks.
    init(_ arguments: Arguments) throws(EideticError) {
        var configuration = ImagePipeline.Configuration().downloads
        if let count = arguments[NetworkOptions.retry] {
            configuration.alwaysRetries = true
            configuration.retryPolicy.maximumAttempts = count + 1
        }
        configuration.waitsForConnectivity = arguments.contains(NetworkOptions.waitForNetwork)
        if configuration.waitsForConnectivity {
            configuration.onWaitingForConnectivity = { request in
                let line = "eidetic: \(TerminalText.abbreviated(request.url)) waits for the network\n"
                TextStream.errors.write(Array(line.utf8))
            }
        }
        if let count = arguments[NetworkOptions.maximumRedirects] { configuration.maximumRedirects = count }
        configuration.certificateAuthorityFile = arguments[NetworkOptions.certificateAuthority]
        configuration.maximumBytesPerSecond = arguments[NetworkOptions.rateLimit]?.bytes
        if let proxy = arguments[NetworkOptions.proxy] { configuration.proxy = proxy }
        self.configuration = configuration
        isOffline = arguments.contains(NetworkOptions.offline)
        isHTTP = arguments.contains(LoadCommand.http) || arguments[LoadCommand.maximumAge] != nil
        metricsFile = arguments[NetworkOptions.metrics]
        var fields = arguments.values(of: NetworkOptions.header)
        if let age = arguments[LoadCommand.maximumAge] {
            fields.append(.init(name: "Cache-Control", value: "max-age=\(age)"))
        }
        headers = HTTPHeaders(fields)
        credentials = try UserCredentials(arguments)
        timeout = arguments[CommonOptions.timeout]
        allowsInvalidCertificates = arguments.contains(NetworkOptions.insecure)
        isLastInFirstOut = arguments.contains(NetworkOptions.lifo)
    }

    /// Returns the resource with the headers, credentials and certificate check of the command line.
    ///
    /// They are properties of the request, so that they are a part of the cache key.
    func applied(to resource: ImageRequest.Resource) -> ImageRequest.Resource {
        guard var request = resource.remote else { return resource }
        request.headers = request.headers.merging(headers)
        if let credentials = credentials.credentials(for: request.url) { request.credentials = credentials }
        if let timeout { request.timeout = timeout }
        request.allowsInvalidCertificates = allowsInvalidCertificates
        return .remote(request)
    }
}
