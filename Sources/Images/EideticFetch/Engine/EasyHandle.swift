import CCurl

/// libcurl's easy handle, for one exchange at a time; used on the engine's thread only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The buffer for libcurl's error message.
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The header fields; libcurl reads them while the exchange runs.
    var headerList: HeaderList?
    private var acceptedEncodings: String?
    /// A Boolean value indicating whether the reuse of connections is restricted.
    var hasReusePolicy = false
    /// A Boolean value indicating whether the handle has the options common to all exchanges, and no others.
    var hasOnlyCommonOptions = false

    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// Sets the content codings to request; they stay in effect for later exchanges.
    func setAcceptedEncodings(_ encodings: String) {
        guard encodings != acceptedEncodings else { return }
        acceptedEncodings = encodings
        _ = encodings.withCString { eidetic_curl_set_string(pointer, CURLOPT_ACCEPT_ENCODING, $0) }
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorBuffer.deallocate()
    }
}
