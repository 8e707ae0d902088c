import CCurl
import EideticCore
import Glibc

extension Transfer {
    /// After so many milliseconds in which the network took nothing that was sent, the kernel gives a connection up.
    ///
    /// - SeeAlso: RFC 5482; tcp(7), `TCP_USER_TIMEOUT`.
    private static let patience: UInt32 = 10_000

    /// The exchange for which a handle works that is under way.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        eidetic_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    var isSecure: Bool { order.origin.scheme == "https" }

    /// Whether the order asks for nothing that others do not ask for, so that its handle can serve any other.
    func isPlain(_ options: EngineOptions) -> Bool {
        !order.request.usesCookies && !order.request.allowsInvalidCertificates && order.credentials == nil
            && options.pins[order.origin.host] == nil
    }

    /// Tells libcurl everything about the exchange.
    func configure(_ options: EngineOptions, _ jar: CookieJar, _ headers: inout HeaderList?) {
        if !handle.isPrepared { prepare(options) }
        handle.isPrepared = isPlain(options)
        set(CURLOPT_URL, order.url)
        set(CURLOPT_PIPEWAIT, isSecure ? 1 : 0)
        if !handle.isPrepared { setSecurity(options) }
        setCredentials()
        setHeaders(&headers)
        if order.request.usesCookies {
            // The empty name of a file to read from is how libcurl is told to know cookies at all.
            set(CURLOPT_COOKIEFILE, "")
            eidetic_curl_set_pointer(easy, CURLOPT_SHARE, jar.handle)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        eidetic_curl_set_receivers(easy, receiveBody, receiveHeadLine, context)
        if options.refusesPrivateNetworks { eidetic_curl_set_socket_opener(easy, openPublicSocket, context) }
    }

    /// Says which connections are not to be used.
    func connect(_ way: ConnectionDoubts.Way) {
        guard way.isFresh || way.longestLife != nil else { return }
        handle.hasWay = true
        if way.isFresh { set(CURLOPT_FRESH_CONNECT, 1) }
        if let life = way.longestLife { set(CURLOPT_MAXLIFETIME_CONN, life) }
    }

    /// Takes back what ``connect(_:)`` said, before the handle serves another exchange.
    func forgetWay() {
        guard handle.hasWay else { return }
        handle.hasWay = false
        set(CURLOPT_FRESH_CONNECT, 0)
        set(CURLOPT_MAXLIFETIME_CONN, 0)
    }

    /// Has the connection closed with the last exchange on it, instead of used again.
    func closeConnection() { set(CURLOPT_FORBID_REUSE, 1) }

    /// What all exchanges of an engine have in common.
    private func prepare(_ options: EngineOptions) {
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        // Slow name servers must not hold up the engine when a caller leaves.
        set(CURLOPT_QUICK_EXIT, 1)
        // The engine measures time by its own clock; libcurl's would count a stop of the process.
        set(CURLOPT_CONNECTTIMEOUT_MS, 86_400_000)
        // libcurl takes one for each exchange under way; larger ones were not faster.
        set(CURLOPT_BUFFERSIZE, 65_536)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        eidetic_curl_set_patience(easy, Self.patience)
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, options.userAgent)
        // Debian's libcurl has a CApath by default, and with one it parses all certificates again at every handshake.
        eidetic_curl_set_string(easy, CURLOPT_CAPATH, nil)
        if let caFile = options.caFile { set(CURLOPT_CAINFO, caFile) }
        eidetic_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, handle.errorText)
        setRoute(options)
    }

    /// What differs from libcurl's own, which is to verify the certificate and the name in it.
    private func setSecurity(_ options: EngineOptions) {
        set(CURLOPT_SSL_VERIFYPEER, order.request.allowsInvalidCertificates ? 0 : 1)
        set(CURLOPT_SSL_VERIFYHOST, order.request.allowsInvalidCertificates ? 0 : 2)
        if let pins = options.pins[order.origin.host] {
            set(CURLOPT_PINNEDPUBLICKEY, pins.joined(separator: ";"))
        }
    }

    private func setRoute(_ options: EngineOptions) {
        switch options.proxy {
        case .environment: break
        case .none: set(CURLOPT_PROXY, "")
        case .url(let url): set(CURLOPT_PROXY, url)
        }
        switch options.addressFamily {
        case .any: break
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if options.refusesPrivateNetworks { set(CURLOPT_PROXY, "") }
        setReadAhead(options)
    }

    private func setReadAhead(_ options: EngineOptions) {
        switch options.proxy {
        case _ where options.refusesPrivateNetworks: eidetic_curl_set_read_ahead(easy, 0)
        case .none: eidetic_curl_set_read_ahead(easy, 0)
        case .environment: eidetic_curl_set_read_ahead(easy, 1)
        case .url: break
        }
    }

    private func setCredentials() {
        switch order.credentials {
        case .basic(let user, let password):
            set(CURLOPT_HTTPAUTH, 1 << 0 /* CURLAUTH_BASIC, a macro with a cast */)
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        case .digest(let user, let password):
            set(CURLOPT_HTTPAUTH, 1 << 1 /* CURLAUTH_DIGEST */)
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        case .bearer, nil: break
        }
    }

    private func setHeaders(_ last: inout HeaderList?) {
        var headers = order.headers
        if case .bearer(let token) = order.credentials { headers["Authorization"] = "Bearer \(token)" }
        // A field that is set here is one that libcurl then does not add: it still decompresses.
        let encodings = headers["Accept-Encoding"]
        if encodings != nil { headers["Accept-Encoding"] = nil }
        handle.accept(encodings: encodings ?? "gzip, br")
        // Most requests have the same fields as the one before.
        let list = last.flatMap { $0.fields.fields == headers.fields ? $0 : nil } ?? HeaderList(headers)
        last = list
        handle.headers = list
        eidetic_curl_set_list(easy, CURLOPT_HTTPHEADER, list.list)
    }

    private func set(_ option: CURLoption, _ value: Int) { eidetic_curl_set_long(easy, option, value) }

    private func set(_ option: CURLoption, _ value: String) {
        _ = value.withCString { eidetic_curl_set_string(easy, option, $0) }
    }
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
    switch transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .taken: return size * count
    case .refused: return refusal
    case .later: return Int(CURL_WRITEFUNC_PAUSE)
    }
}

private func receiveHeadLine(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let isTaken = transfer.receive(head: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isTaken ? size * count : refusal
}

/// Opens a socket to a public address alone.
///
/// This is the address that is connected to: no second look at a name server can lead elsewhere in between.
private func openPublicSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard let target = NetworkAddress(&address.pointee.addr), target.isPublic else {
        transfer.refuseAddress(&address.pointee.addr)
        return CURL_SOCKET_BAD
    }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, type, address.pointee.protocol)
}
