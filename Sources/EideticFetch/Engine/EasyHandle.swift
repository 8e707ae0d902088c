import CCurl

/// libcurl's handle for one exchange at a time; lives on the engine's thread alone.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// Where libcurl writes what went wrong.
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// Fields that libcurl reads from while the exchange runs.
    var headerList: HeaderList?
    private var acceptedEncodings: String?
    /// Whether it was told which connections not to use.
    var hasReusePolicy = false
    /// Whether it holds what all exchanges have in common, and nothing else.
    var hasOnlyCommonOptions = false

    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// Which encodings the server may use; asked for until others are.
    func setAcceptedEncodings(_ encodings: String) {
        guard encodings != self.acceptedEncodings else { return }
        self.acceptedEncodings = encodings
        _ = encodings.withCString { eidetic_curl_set_string(pointer, CURLOPT_ACCEPT_ENCODING, $0) }
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorBuffer.deallocate()
    }
}

/// Handles that are not in use: making one, with its buffers, takes longer than using it again.
struct EasyHandlePool {
    private static let capacity = 64
    private var idle: [EasyHandle] = []

    mutating func acquire() -> EasyHandle? { idle.popLast() ?? EasyHandle() }

    /// Takes a handle back after an exchange that went well, and that was like all others.
    mutating func recycle(_ handle: EasyHandle) { if idle.count < Self.capacity { idle.append(handle) } }
}

/// Header fields as libcurl takes them.
final class HeaderList {
    let fields: HTTPHeaders
    let pointer: UnsafeMutablePointer<curl_slist>?

    init(_ headers: HTTPHeaders) {
        fields = headers
        var pointer: UnsafeMutablePointer<curl_slist>?
        for field in headers.fields {
            // "Name:" would remove a field; "Name;" is how libcurl is told of an empty one.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            pointer = curl_slist_append(pointer, line) ?? pointer
        }
        self.pointer = pointer
    }

    deinit { curl_slist_free_all(pointer) }
}
