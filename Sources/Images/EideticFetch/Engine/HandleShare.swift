import CCurl

/// The data of libcurl that handles share, in memory: sessions of TLS, and for some of them cookies.
///
/// It is used on the engine's thread only, so that libcurl needs no locks.
final class HandleShare {
    /// libcurl's share handle.
    private let pointer: UnsafeMutableRawPointer?
    /// The origins with which a handshake has failed.
    ///
    /// A server may close each connection that offers a session of it, and libcurl, which keeps that, would offer it
    /// again and again.
    private var originsWithoutSessions: Set<Origin> = []

    init(includingCookies: Bool) {
        pointer = curl_share_init()
        eidetic_curl_share(pointer, CURL_LOCK_DATA_SSL_SESSION)
        if includingCookies { eidetic_curl_share(pointer, CURL_LOCK_DATA_COOKIE) }
    }

    deinit { curl_share_cleanup(pointer) }

    /// Makes a handle use the share, and offer a session of TLS unless a handshake with the origin has failed.
    func attach(to easy: UnsafeMutableRawPointer, for origin: Origin? = nil) {
        eidetic_curl_set_pointer(easy, CURLOPT_SHARE, pointer)
        guard let origin, originsWithoutSessions.contains(origin) else { return }
        eidetic_curl_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
    }

    /// Records with which code of libcurl an exchange with an origin has ended.
    func recordEnd(of origin: Origin, code: CURLcode) {
        guard code == CURLE_SSL_CONNECT_ERROR else { return }
        if originsWithoutSessions.count >= 1_024 { originsWithoutSessions = [] }
        originsWithoutSessions.insert(origin)
    }

    /// Removes all cookies.
    func removeCookies() {
        guard let easy = curl_easy_init() else { return }
        defer { curl_easy_cleanup(easy) }
        attach(to: easy)
        eidetic_curl_set_string(easy, CURLOPT_COOKIELIST, "ALL")
    }
}
