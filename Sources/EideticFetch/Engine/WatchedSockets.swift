import CCurl
import CNetwork

/// The sockets that libcurl waits for; lives on the engine's thread alone.
struct WatchedSockets {
    private var sockets: [Int32: WatchedSocket] = [:]
    /// How many of them speak TLS.
    private var secureCount = 0
    /// Those of them whose bytes OpenSSL took from the system before libcurl wanted them.
    private(set) var held: [Int32] = []

    var count: Int { sockets.count }

    func contains(_ socket: Int32) -> Bool { sockets[socket] != nil }

    /// Notes what libcurl says of a socket (`CURL_POLL_IN`, …); gives what epoll must be told, if anything.
    mutating func note(
        _ socket: Int32,
        _ what: Int32,
        _ easy: UnsafeMutableRawPointer
    ) -> (operation: Int32, wanted: UInt32)? {
        let known = sockets.removeValue(forKey: socket)
        if known?.isSecure == true { secureCount -= 1 }
        guard what != CURL_POLL_REMOVE else { return (EPOLL_CTL_DEL, 0) }
        let watched = WatchedSocket(what, easy)
        sockets[socket] = watched
        if watched.isSecure { secureCount += 1 }
        // libcurl also tells of each transfer that joins others.
        guard known?.wanted != watched.wanted else { return nil }
        return (known == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, watched.wanted)
    }

    /// Looks which of them hold bytes that libcurl waits for.
    mutating func findHeld() {
        held.removeAll(keepingCapacity: true)
        guard secureCount > 0 else { return }
        for (socket, var watched) in sockets where watched.isSecure {
            if watched.findSession() { sockets[socket] = watched }
            if watched.holdsBytes { held.append(socket) }
        }
    }
}

/// A socket that libcurl waits for.
private struct WatchedSocket {
    /// For what, as epoll says it.
    let wanted: UInt32
    /// Whether what goes over it is encrypted.
    let isSecure: Bool
    /// The exchange that libcurl told of last; on the socket for as long as there is no session.
    ///
    /// Others come only to a connection that stands, each with a word of libcurl's; and with the last that leaves, the socket goes.
    private let easy: UnsafeMutableRawPointer
    /// OpenSSL's session; libcurl gives the socket up before it is released.
    private var session: UnsafeRawPointer?

    init(_ what: Int32, _ easy: UnsafeMutableRawPointer) {
        var wanted: UInt32 = 0
        if what & CURL_POLL_IN != 0 { wanted |= EPOLLIN.rawValue }
        if what & CURL_POLL_OUT != 0 { wanted |= EPOLLOUT.rawValue }
        self.wanted = wanted
        self.easy = easy
        isSecure = Transfer.of(easy)?.isSecure ?? false
        if isSecure { session = eidetic_curl_tls_session(easy) }
    }

    /// Looks whether there is a session now; gives whether one was found.
    mutating func findSession() -> Bool {
        guard session == nil else { return false }
        session = eidetic_curl_tls_session(easy)
        return session != nil
    }

    /// Whether libcurl waits for bytes that OpenSSL took from the system before.
    var holdsBytes: Bool {
        guard let session, wanted & EPOLLIN.rawValue != 0 else { return false }
        return eidetic_curl_holds_bytes(session) != 0
    }
}
