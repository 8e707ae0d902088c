import CCurl
import CNetwork

/// A socket that libcurl waits for; lives on the engine's thread alone.
struct WatchedSocket {
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
