import CCurl

/// The cookies of a downloader, in memory.
///
/// Lives on the engine's thread alone, so that libcurl needs no locks.
final class CookieJar {
    let handle: UnsafeMutableRawPointer?

    init() {
        handle = curl_share_init()
        eidetic_curl_share_cookies(handle)
    }

    deinit { curl_share_cleanup(handle) }

    /// Throws all cookies away.
    func removeAll() {
        guard let easy = curl_easy_init() else { return }
        defer { curl_easy_cleanup(easy) }
        eidetic_curl_set_pointer(easy, CURLOPT_SHARE, handle)
        eidetic_curl_set_string(easy, CURLOPT_COOKIELIST, "ALL")
    }
}
