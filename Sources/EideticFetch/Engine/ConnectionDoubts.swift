import EideticCore

/// Which connections may be dead although nobody said so: those of a network that is gone, and those on which a time-out
/// came.
///
/// Over HTTP/2 libcurl does not close a connection because one exchange on it was given up, and would put the next one
/// on it as well. Lives on one thread.
struct ConnectionDoubts {
    /// How an exchange gets its connection.
    struct Way {
        /// Whether it is to have a new one.
        let isFresh: Bool
        /// How old a connection may be that is used again, in seconds; older ones that rest are closed.
        let longestLife: Int?
    }

    /// So long after news of the network no connection that has rested since is used: libcurl uses none after so long.
    private static let memory: Duration = .seconds(120)
    /// libcurl counts the age of a connection in whole seconds.
    private static let shortestLife = 2
    /// Origins that are remembered at most.
    private static let capacity = 1_024

    /// When the doubt began, by the engine's clock.
    private var origins: [Origin: Duration] = [:]
    private var news: Duration?

    /// Whether every connection can be used.
    var isEmpty: Bool { origins.isEmpty && news == nil }

    /// Notes a time-out.
    mutating func add(_ origin: Origin, now: Duration) {
        if origins.count >= Self.capacity { origins.removeAll() }
        origins[origin] = now
    }

    /// Whether an exchange may be on a dead connection: nothing came on it since the doubt began.
    func concern(_ origin: Origin, lastByte: Duration) -> Bool { origins[origin].map { lastByte <= $0 } ?? false }

    /// Notes that something came from `origin`.
    mutating func remove(_ origin: Origin) { origins[origin] = nil }

    /// Notes that the network is another one, while exchanges with `busy` are under way.
    mutating func networkChanged(_ busy: [Origin], now: Duration) {
        for origin in busy { add(origin, now: now) }
        news = now
    }

    /// How an exchange with `origin` gets its connection.
    mutating func way(to origin: Origin, now: Duration) -> Way {
        if let news, now - news > Self.memory { self.news = nil }
        let sinceNews = news.map { Int((now - $0).inSeconds) }
        let isFresh = origins[origin] != nil || sinceNews.map { $0 < Self.shortestLife } ?? false
        return Way(isFresh: isFresh, longestLife: sinceNews.map { max(Self.shortestLife, $0) - 1 })
    }
}
