import EideticCore

/// The origins that answer, and those whose connections may be dead: after a time-out on them, or after a change of the
/// network.
///
/// Over HTTP/2 libcurl does not close a connection when an exchange on it times out, and would send the next exchange
/// over it. It is used on one thread only.
struct ConnectionHealth {
    /// The rule for reusing a connection.
    struct ReusePolicy {
        /// A Boolean value indicating whether the exchange requires a new connection.
        let requiresNewConnection: Bool
        /// The largest age of a connection that is reused; `nil` for no limit.
        ///
        /// Older idle connections are closed.
        let maximumAge: Duration?
    }

    /// The time for which a change of the network matters: libcurl does not reuse a connection that was idle longer.
    private static let idleLimit: Duration = .seconds(120)
    /// libcurl counts the age of a connection in whole seconds.
    private static let minimumAge = 2
    /// The largest number of suspected origins.
    private static let capacity = 1_024

    /// The time since which the connections of an origin are suspected, by the engine's clock.
    private var suspectedSince: [Origin: Duration] = [:]
    private var lastNetworkChange: Duration?
    /// The origins whose last exchange ended with a response.
    private var answeringOrigins: Set<Origin> = []

    /// A Boolean value indicating whether every connection can be reused.
    var isHealthy: Bool { suspectedSince.isEmpty && lastNetworkChange == nil }

    /// Returns a Boolean value indicating whether the last exchange with an origin ended with a response.
    func answers(_ origin: Origin) -> Bool { answeringOrigins.contains(origin) }

    /// Records the end of an exchange that was not cancelled.
    mutating func recordEnd(of origin: Origin, isAnswered: Bool) {
        guard isAnswered != answers(origin) else { return }
        if answeringOrigins.count >= Self.capacity { answeringOrigins.removeAll() }
        if isAnswered { answeringOrigins.insert(origin) } else { answeringOrigins.remove(origin) }
    }

    mutating func recordTimeout(of origin: Origin, now: Duration) {
        if suspectedSince.count >= Self.capacity { suspectedSince.removeAll() }
        suspectedSince[origin] = now
    }

    /// Returns a Boolean value indicating whether an exchange may use a dead connection: no byte has arrived since.
    func isSuspected(_ origin: Origin, lastActivity: Duration) -> Bool {
        suspectedSince[origin].map { lastActivity <= $0 } ?? false
    }

    mutating func recordResponse(from origin: Origin) { suspectedSince[origin] = nil }

    /// Records a change of the network, while exchanges with `busyOrigins` run.
    mutating func recordNetworkChange(busyOrigins: [Origin], now: Duration) {
        for origin in busyOrigins { recordTimeout(of: origin, now: now) }
        lastNetworkChange = now
    }

    /// Returns the rule for an exchange with `origin`.
    mutating func reusePolicy(for origin: Origin, now: Duration) -> ReusePolicy {
        if let lastNetworkChange, now - lastNetworkChange > Self.idleLimit { self.lastNetworkChange = nil }
        let secondsSinceChange = lastNetworkChange.map { Int((now - $0).inSeconds) }
        let isRecentChange = secondsSinceChange.map { $0 < Self.minimumAge } ?? false
        return ReusePolicy(
            requiresNewConnection: suspectedSince[origin] != nil || isRecentChange,
            maximumAge: secondsSinceChange.map { .seconds(max(Self.minimumAge, $0) - 1) }
        )
    }
}
