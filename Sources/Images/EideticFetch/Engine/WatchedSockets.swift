import CCurl
import CNetwork

/// The sockets that libcurl waits for; used on the engine's thread only.
struct WatchedSockets {
    private var sockets: [Int32: WatchedSocket] = [:]
    /// The number of sockets with TLS.
    private var secureCount = 0
    /// The sockets with bytes that OpenSSL has read ahead, as of the last call of `findBufferedSockets()`.
    private(set) var bufferedSockets: [Int32] = []

    var count: Int { sockets.count }

    func contains(_ socket: Int32) -> Bool { sockets[socket] != nil }

    /// Updates a socket as libcurl requests.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - activity: The events that libcurl waits for (`CURL_POLL_IN`, …).
    ///   - easy: The handle of an exchange on the socket.
    /// - Returns: The change for `epoll_ctl`, or `nil` if none is needed.
    mutating func update(
        _ socket: Int32,
        activity: Int32,
        easy: UnsafeMutableRawPointer
    ) -> (operation: Int32, events: UInt32)? {
        let previous = sockets.removeValue(forKey: socket)
        if previous?.isSecure == true { secureCount -= 1 }
        guard activity != CURL_POLL_REMOVE else { return (EPOLL_CTL_DEL, 0) }
        let watched = WatchedSocket(activity: activity, easy: easy)
        sockets[socket] = watched
        if watched.isSecure { secureCount += 1 }
        // libcurl also calls for each exchange that joins a connection.
        guard previous?.events != watched.events else { return nil }
        return (previous == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, watched.events)
    }

    /// Finds the sockets with buffered bytes that libcurl waits for.
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
    /// The epoll events to wait for.
    let events: UInt32
    /// A Boolean value indicating whether the connection uses TLS.
    let isSecure: Bool
    /// The handle of the last exchange that libcurl reported, which stays on the socket at least until there is a
    /// session.
    ///
    /// Further exchanges join established connections only, and libcurl reports each. The socket is removed with the
    /// last.
    private let easy: UnsafeMutableRawPointer
    /// OpenSSL's session; libcurl removes the socket before it frees the session.
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

    /// Finds the session; returns `true` the first time that there is one.
    mutating func findSession() -> Bool {
        guard session == nil else { return false }
        session = eidetic_curl_tls_session(easy)
        return session != nil
    }

    /// A Boolean value indicating whether libcurl waits for bytes that OpenSSL has read ahead.
    var hasBufferedBytes: Bool {
        guard let session, events & EPOLLIN.rawValue != 0 else { return false }
        return eidetic_curl_holds_bytes(session) != 0
    }
}
