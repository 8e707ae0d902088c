import CCurl

/// libcurl's multi handle; lives on the engine's thread alone.
final class MultiHandle {
    let pointer: UnsafeMutableRawPointer

    private static let isInitialised: Bool = eidetic_curl_start() == CURLE_OK

    /// A machine on which libcurl cannot start has no memory left: traps.
    init() {
        guard Self.isInitialised, let handle = curl_multi_init() else { preconditionFailure("libcurl cannot start") }
        self.pointer = handle
    }

    deinit { curl_multi_cleanup(pointer) }
}
