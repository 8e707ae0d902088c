import CCurl

/// libcurl's multi handle.
///
/// Safe to send: everything but `wakeUp` is called on the engine's thread alone, and `curl_multi_wakeup` may be called on
/// any thread while the handle lives, which the inbox's lock assures.
final class CurlMulti: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    private static let isInitialised: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// A machine on which libcurl cannot start has no memory left: traps.
    init() {
        guard Self.isInitialised, let handle = curl_multi_init() else { preconditionFailure("libcurl cannot start") }
        self.handle = handle
    }

    deinit { curl_multi_cleanup(handle) }

    func wakeUp() { curl_multi_wakeup(handle) }
}
