import CCurl

/// libcurl's multi handle, used on the engine's thread only.
final class MultiHandle {
    let pointer: UnsafeMutableRawPointer

    private static let isInitialised: Bool = eidetic_curl_start() == CURLE_OK

    /// Creates a handle; traps if libcurl cannot be initialised, which happens without memory only.
    init() {
        guard Self.isInitialised, let pointer = curl_multi_init() else {
            preconditionFailure("libcurl cannot be initialised")
        }
        self.pointer = pointer
    }

    deinit { curl_multi_cleanup(pointer) }
}
