import CCurl

/// The cookies of a downloader, in memory.
///
/// It is used on the engine's thread only, so that libcurl needs no locks.
final class CookieJar {
    /// libcurl's share handle.
    let handle: UnsafeMutableRawPointer?

    init() {
        handle = curl_share_init()
        eidetic_curl_share_cookies(handle)
    }

    deinit { curl_share_cleanup(handle) }

    /// Removes all cookies.
    func removeAll() {
        guard let easy = curl_easy_init() else { return }
        defer { curl_easy_cleanup(easy) }
        eidetic_curl_set_pointer(easy, CURLOPT_SHARE, handle)
        eidetic_curl_set_string(easy, CURLOPT_COOKIELIST, "ALL")
    }
}
