import EideticCore

/// Which connections may be dead although nobody said so: those of a network that is gone, and those on which a time-out
/// came.
///
/// Over HTTP/2 libcurl does not close a connection because one exchange on it was given up, and would put the next one
/// on it as well. Lives on one thread.
struct ConnectionHealth {
    /// How an exchange gets its connection.
    struct ReusePolicy {
        /// Whether it is to have a new one.
        let requiresNewConnection: Bool
        /// How old a connection may be that is used again, in seconds; older ones that rest are closed.
        let maximumAge: Int?
    }

    /// So long after news of the network no connection that has rested since is used: libcurl uses none after so long.
    private static let idleLimit: Duration = .seconds(120)
    /// libcurl counts the age of a connection in whole seconds.
    private static let minimumAge = 2
    /// Origins that are remembered at most.
    private static let capacity = 1_024

    /// When the doubt began, by the engine's clock.
    private var suspectedSince: [Origin: Duration] = [:]
    private var lastNetworkChange: Duration?

    /// Whether every connection can be used.
    var isHealthy: Bool { suspectedSince.isEmpty && lastNetworkChange == nil }

    /// Notes a time-out.
    mutating func recordTimeout(of origin: Origin, now: Duration) {
        if suspectedSince.count >= Self.capacity { suspectedSince.removeAll() }
        suspectedSince[origin] = now
    }

    /// Whether an exchange may be on a dead connection: nothing came on it since the doubt began.
    func isSuspected(_ origin: Origin, lastActivity: Duration) -> Bool {
        suspectedSince[origin].map { lastActivity <= $0 } ?? false
    }

    /// Notes that something came from `origin`.
    mutating func recordResponse(from origin: Origin) { suspectedSince[origin] = nil }

    /// Notes that the network is another one, while exchanges with `busy` are under way.
    mutating func recordNetworkChange(busyOrigins: [Origin], now: Duration) {
        for origin in busyOrigins { recordTimeout(of: origin, now: now) }
        lastNetworkChange = now
    }

    /// How an exchange with `origin` gets its connection.
    mutating func reusePolicy(for origin: Origin, now: Duration) -> ReusePolicy {
        if let lastNetworkChange, now - lastNetworkChange > Self.idleLimit { self.lastNetworkChange = nil }
        let secondsSinceChange = lastNetworkChange.map { Int((now - $0).inSeconds) }
        let requiresNewConnection =
            suspectedSince[origin] != nil || secondsSinceChange.map { $0 < Self.minimumAge } ?? false
        return ReusePolicy(
            requiresNewConnection: requiresNewConnection,
            maximumAge: secondsSinceChange.map { max(Self.minimumAge, $0) - 1 }
        )
    }
}
