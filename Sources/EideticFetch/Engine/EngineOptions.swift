import EideticCore

/// What all transfers of an engine have in common.
struct EngineOptions: Sendable {
    var threadName = "eidetic-fetch"
    let certificateAuthorityFile: String?
    let userAgent: String
    let pinnedPublicKeys: [String: [String]]
    let proxy: Downloader.Proxy
    let addressFamily: Downloader.AddressFamily
    let refusesPrivateNetworks: Bool
    let maximumBytesPerSecond: Int?
    let observesNetwork: Bool
    /// By whose uptime time-outs and the rate are measured.
    let time: any TimeSource
    /// Through which bodies are written to files.
    let fileSystem: FileSystem
    /// Called on the engine's thread when an interface, an address or a route came.
    var onNetworkChange: @Sendable () -> Void = {}

    init(_ configuration: Downloader.Configuration) {
        certificateAuthorityFile = configuration.certificateAuthorityFile
        userAgent = configuration.userAgent
        pinnedPublicKeys = Dictionary(
            configuration.pinnedPublicKeys.map { (ParsedURL.normalisedHost($0.key), $0.value) },
            uniquingKeysWith: +
        )
        proxy = configuration.proxy
        addressFamily = configuration.addressFamily
        refusesPrivateNetworks = configuration.refusesPrivateNetworks
        maximumBytesPerSecond = configuration.maximumBytesPerSecond
        observesNetwork = configuration.observesNetwork
        time = configuration.time
        fileSystem = configuration.fileSystem
    }
}
