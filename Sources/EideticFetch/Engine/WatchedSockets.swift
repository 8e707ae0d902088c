import CCurl
import CNetwork

/// The sockets that libcurl waits for; lives on the engine's thread alone.
struct WatchedSockets {
    private var sockets: [Int32: WatchedSocket] = [:]
    /// How many of them speak TLS.
    private var secureCount = 0
    /// Those of them whose bytes OpenSSL took from the system before libcurl wanted them.
    private(set) var bufferedSockets: [Int32] = []

    var count: Int { sockets.count }

    func contains(_ socket: Int32) -> Bool { sockets[socket] != nil }

    /// Notes what libcurl says of a socket (`CURL_POLL_IN`, …); gives what epoll must be told, if anything.
    mutating func update(
        _ socket: Int32,
        activity: Int32,
        easy: UnsafeMutableRawPointer
    ) -> (operation: Int32, wanted: UInt32)? {
        let previous = sockets.removeValue(forKey: socket)
        if previous?.isSecure == true { secureCount -= 1 }
        guard activity != CURL_POLL_REMOVE else { return (EPOLL_CTL_DEL, 0) }
        let watched = WatchedSocket(activity: activity, easy: easy)
        sockets[socket] = watched
        if watched.isSecure { secureCount += 1 }
        // libcurl also tells of each transfer that joins others.
        guard previous?.events != watched.events else { return nil }
        return (previous == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, watched.events)
    }

    /// Looks which of them hold bytes that libcurl waits for.
    mutating func findBufferedSockets() {
        bufferedSockets.removeAll(keepingCapacity: true)
        guard secureCount > 0 else { return }
        for (socket, var watched) in sockets where watched.isSecure {
            if watched.findSession() { sockets[socket] = watched }
            if watched.hasBufferedBytes { bufferedSockets.append(socket) }
        }
    }
}

/// A socket that libcurl waits for.
private struct WatchedSocket {
    /// For what, as epoll says it.
    let events: UInt32
    /// Whether what goes over it is encrypted.
    let isSecure: Bool
    /// The exchange that libcurl told of last; on the socket for as long as there is no session.
    ///
    /// Others come only to a connection that stands, each with a word of libcurl's; and with the last that leaves, the socket goes.
    private let easy: UnsafeMutableRawPointer
    /// OpenSSL's session; libcurl gives the socket up before it is released.
    private var session: UnsafeRawPointer?

    init(activity: Int32, easy: UnsafeMutableRawPointer) {
        var events: UInt32 = 0
        if activity & CURL_POLL_IN != 0 { events |= EPOLLIN.rawValue }
        if activity & CURL_POLL_OUT != 0 { events |= EPOLLOUT.rawValue }
        self.events = events
        self.easy = easy
        isSecure = Exchange.running(on: easy)?.isSecure ?? false
        if isSecure { session = eidetic_curl_tls_session(easy) }
    }

    /// Looks whether there is a session now; gives whether one was found.
    mutating func findSession() -> Bool {
        guard session == nil else { return false }
        session = eidetic_curl_tls_session(easy)
        return session != nil
    }

    /// Whether libcurl waits for bytes that OpenSSL took from the system before.
    var hasBufferedBytes: Bool {
        guard let session, events & EPOLLIN.rawValue != 0 else { return false }
        return eidetic_curl_holds_bytes(session) != 0
    }
}
