import EideticCore

/// The options that all exchanges of an engine have in common.
struct EngineOptions: Sendable {
    var threadName = "eidetic-fetch"
    let curl: CurlConfiguration
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
        var curl = CurlConfiguration(userAgent: configuration.userAgent)
        curl.certificateAuthorityFile = configuration.certificateAuthorityFile
        curl.pin(configuration.pinnedPublicKeys)
        curl.proxy = configuration.proxy
        curl.addressFamily = configuration.addressFamily
        curl.acknowledgementLimit = .seconds(10)
        self.curl = curl
        refusesPrivateNetworks = configuration.refusesPrivateNetworks
        maximumBytesPerSecond = configuration.maximumBytesPerSecond
        observesNetwork = configuration.observesNetwork
        time = configuration.time
    }
}
