import EideticCore

/// The options that all exchanges of an engine have in common.
struct EngineOptions: Sendable {
    var threadName = "eidetic-fetch"
    let certificateAuthorityFile: String?
    let userAgent: String
    /// The pinned public keys by normalised host.
    let pinnedPublicKeys: [String: [String]]
    let proxy: Downloader.Proxy
    let addressFamily: Downloader.AddressFamily
    let refusesPrivateNetworks: Bool
    let maximumBytesPerSecond: Int?
    let observesNetwork: Bool
    /// The clock for time-outs and the rate limit.
    let time: any TimeSource
    /// The limit of all bodies in memory.
    let bodyBudget: BodyBudget
    /// A function that is called on the engine's thread when an interface, an address or a route appears.
    var onNetworkChange: @Sendable () -> Void = {}

    init(_ configuration: Downloader.Configuration, bodyBudget: BodyBudget) {
        self.bodyBudget = bodyBudget
        certificateAuthorityFile = configuration.certificateAuthorityFile
        userAgent = configuration.userAgent
        let keys = configuration.pinnedPublicKeys.map { (ParsedURL.normalisedHost($0.key), $0.value) }
        pinnedPublicKeys = Dictionary(keys, uniquingKeysWith: +)
        proxy = configuration.proxy
        addressFamily = configuration.addressFamily
        refusesPrivateNetworks = configuration.refusesPrivateNetworks
        maximumBytesPerSecond = configuration.maximumBytesPerSecond
        observesNetwork = configuration.observesNetwork
        time = configuration.time
    }
}
