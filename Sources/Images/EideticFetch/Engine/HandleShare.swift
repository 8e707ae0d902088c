import CCurl

/// The data of libcurl that handles share, in memory: sessions of TLS, and for some of them cookies.
///
/// It is used on the engine's thread only, so that libcurl needs no locks.
final class HandleShare {
    /// libcurl's share handle.
    private let pointer: UnsafeMutableRawPointer?

    init(includingCookies: Bool) {
        pointer = curl_share_init()
        eidetic_curl_share(pointer, CURL_LOCK_DATA_SSL_SESSION)
        if includingCookies { eidetic_curl_share(pointer, CURL_LOCK_DATA_COOKIE) }
    }

    deinit { curl_share_cleanup(pointer) }

    /// Makes a handle use the share.
    func attach(to easy: UnsafeMutableRawPointer) { eidetic_curl_set_pointer(easy, CURLOPT_SHARE, pointer) }

    /// Removes all cookies.
    func removeCookies() {
        guard let easy = curl_easy_init() else { return }
        defer { curl_easy_cleanup(easy) }
        attach(to: easy)
        eidetic_curl_set_string(easy, CURLOPT_COOKIELIST, "ALL")
    }
}
