import EideticCore

/// What all transfers of an engine have in common.
struct EngineOptions: Sendable {
    var name = "eidetic-fetch"
    let caFile: String?
    let userAgent: String
    let pins: [String: [String]]
    let proxy: Downloader.Proxy
    let addressFamily: Downloader.AddressFamily
    let refusesPrivateNetworks: Bool
    let bytesPerSecond: Int?
    let observesNetwork: Bool
    /// By whose uptime time-outs and the rate are measured.
    let time: any TimeSource
    /// Through which bodies are written to files.
    let files: FileSystem
    /// Called on the engine's thread when an interface, an address or a route came.
    var onNetworkChange: @Sendable () -> Void = {}

    init(_ configuration: Downloader.Configuration) {
        caFile = configuration.caFile
        userAgent = configuration.userAgent
        pins = Dictionary(configuration.pins.map { (ParsedURL.host($0.key), $0.value) }, uniquingKeysWith: +)
        proxy = configuration.proxy
        addressFamily = configuration.addressFamily
        refusesPrivateNetworks = configuration.refusesPrivateNetworks
        bytesPerSecond = configuration.bytesPerSecond
        observesNetwork = configuration.observesNetwork
        time = configuration.time
        files = configuration.fileSystem
    }
}
