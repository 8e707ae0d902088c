import CCurl
import EideticCore

extension Transfer {
    /// Tells libcurl everything about the exchange.
    func configure(_ options: EngineOptions) {
        set(CURLOPT_URL, order.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        // Slow name servers must not hold up the engine when a caller leaves.
        set(CURLOPT_QUICK_EXIT, 1)
        // The engine measures time by its own clock; libcurl's would count a stop of the process.
        set(CURLOPT_CONNECTTIMEOUT_MS, 86_400_000)
        set(CURLOPT_BUFFERSIZE, 102_400)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        set(CURLOPT_PIPEWAIT, order.origin.scheme == "https" ? 1 : 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, options.userAgent)
        setSecurity(options)
        setCredentials()
        setHeaders()
        eidetic_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        eidetic_curl_set_receivers(easy, receiveBody, receiveHeadLine, context)
    }

    private func setSecurity(_ options: EngineOptions) {
        // Debian's libcurl has a CApath by default, and with one it parses all certificates again at every handshake.
        eidetic_curl_set_string(easy, CURLOPT_CAPATH, nil)
        if let caFile = options.caFile { set(CURLOPT_CAINFO, caFile) }
        set(CURLOPT_SSL_VERIFYPEER, order.allowsInvalidCertificates ? 0 : 1)
        set(CURLOPT_SSL_VERIFYHOST, order.allowsInvalidCertificates ? 0 : 2)
    }

    private func setCredentials() {
        switch order.credentials {
        case .basic(let user, let password):
            set(CURLOPT_HTTPAUTH, Int(bitPattern: UInt(1) << 0))
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        case .digest(let user, let password):
            set(CURLOPT_HTTPAUTH, Int(bitPattern: UInt(1) << 1))
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        case .bearer, nil: break
        }
    }

    private func setHeaders() {
        var headers = order.headers
        if case .bearer(let token) = order.credentials { headers["Authorization"] = "Bearer \(token)" }
        // A field that is set here is one that libcurl then does not add: it still decompresses.
        set(CURLOPT_ACCEPT_ENCODING, headers["Accept-Encoding"] ?? "gzip, br")
        headers["Accept-Encoding"] = nil
        var list: UnsafeMutablePointer<curl_slist>?
        for field in headers.fields {
            // "Name:" would remove a field; "Name;" is how libcurl is told of an empty one.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            list = curl_slist_append(list, line) ?? list
        }
        guard let list else { return }
        lists.append(list)
        eidetic_curl_set_list(easy, CURLOPT_HTTPHEADER, list)
    }

    private func set(_ option: CURLoption, _ value: Int) { eidetic_curl_set_long(easy, option, value) }

    private func set(_ option: CURLoption, _ value: String) { eidetic_curl_set_string(easy, option, value) }
}

/// What ends an exchange from a callback: any count but the one that was offered.
private let refusal = 0

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let isTaken = transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isTaken ? size * count : refusal
}

private func receiveHeadLine(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let isTaken = transfer.receive(headLine: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isTaken ? size * count : refusal
}
