import CCurl
import EideticCore
import Glibc

extension Exchange {
    /// After so many milliseconds in which the network took nothing that was sent, the kernel gives a connection up.
    ///
    /// - SeeAlso: RFC 5482; tcp(7), `TCP_USER_TIMEOUT`.
    private static let tcpUserTimeout: UInt32 = 10_000

    /// The exchange for which a handle works that is under way.
    static func running(on easy: UnsafeMutableRawPointer) -> Exchange? {
        var context: UnsafeMutableRawPointer?
        eidetic_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    var isSecure: Bool { request.origin.scheme == "https" }

    /// Whether the order asks for nothing that others do not ask for, so that its handle can serve any other.
    func hasOnlyCommonOptions(_ options: EngineOptions) -> Bool {
        !request.fetchRequest.usesCookies && !request.fetchRequest.allowsInvalidCertificates
            && request.credentials == nil
            && options.pinnedPublicKeys[request.origin.host] == nil
    }

    /// Tells libcurl everything about the exchange.
    func configure(with options: EngineOptions, cookieJar: CookieJar, lastHeaderList: inout HeaderList?) {
        if !handle.hasOnlyCommonOptions { setCommonOptions(options) }
        handle.hasOnlyCommonOptions = hasOnlyCommonOptions(options)
        set(CURLOPT_URL, to: request.url)
        set(CURLOPT_PIPEWAIT, to: isSecure ? 1 : 0)
        if !handle.hasOnlyCommonOptions { setTLSOptions(options) }
        setCredentials()
        setHeaders(reusing: &lastHeaderList)
        if request.fetchRequest.usesCookies {
            // The empty name of a file to read from is how libcurl is told to know cookies at all.
            set(CURLOPT_COOKIEFILE, to: "")
            eidetic_curl_set_pointer(easy, CURLOPT_SHARE, cookieJar.handle)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        eidetic_curl_set_receivers(easy, receiveBody, receiveHeadLine, context)
        if options.refusesPrivateNetworks { eidetic_curl_set_socket_opener(easy, openPublicSocket, context) }
    }

    /// Says which connections are not to be used.
    func apply(_ policy: ConnectionHealth.ReusePolicy) {
        guard policy.requiresNewConnection || policy.maximumAge != nil else { return }
        handle.hasReusePolicy = true
        if policy.requiresNewConnection { set(CURLOPT_FRESH_CONNECT, to: 1) }
        if let age = policy.maximumAge { set(CURLOPT_MAXLIFETIME_CONN, to: age) }
    }

    /// Takes back what ``connect(_:)`` said, before the handle serves another exchange.
    func resetReusePolicy() {
        guard handle.hasReusePolicy else { return }
        handle.hasReusePolicy = false
        set(CURLOPT_FRESH_CONNECT, to: 0)
        set(CURLOPT_MAXLIFETIME_CONN, to: 0)
    }

    /// Has the connection closed with the last exchange on it, instead of used again.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, to: 1) }

    /// What all exchanges of an engine have in common.
    private func setCommonOptions(_ options: EngineOptions) {
        set(CURLOPT_PROTOCOLS_STR, to: "http,https")
        set(CURLOPT_NOSIGNAL, to: 1)
        // Slow name servers must not hold up the engine when a caller leaves.
        set(CURLOPT_QUICK_EXIT, to: 1)
        // The engine measures time by its own clock; libcurl's would count a stop of the process.
        set(CURLOPT_CONNECTTIMEOUT_MS, to: 86_400_000)
        // libcurl takes one for each exchange under way; larger ones were not faster.
        set(CURLOPT_BUFFERSIZE, to: 65_536)
        set(CURLOPT_TCP_KEEPALIVE, to: 1)
        eidetic_curl_set_patience(easy, Self.tcpUserTimeout)
        set(CURLOPT_HTTP_VERSION, to: CURL_HTTP_VERSION_2TLS)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        set(CURLOPT_USERAGENT, to: options.userAgent)
        // Debian's libcurl has a CApath by default, and with one it parses all certificates again at every handshake.
        eidetic_curl_set_string(easy, CURLOPT_CAPATH, nil)
        if let caFile = options.certificateAuthorityFile { set(CURLOPT_CAINFO, to: caFile) }
        eidetic_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, handle.errorBuffer)
        setConnectionOptions(options)
    }

    /// What differs from libcurl's own, which is to verify the certificate and the name in it.
    private func setTLSOptions(_ options: EngineOptions) {
        set(CURLOPT_SSL_VERIFYPEER, to: request.fetchRequest.allowsInvalidCertificates ? 0 : 1)
        set(CURLOPT_SSL_VERIFYHOST, to: request.fetchRequest.allowsInvalidCertificates ? 0 : 2)
        if let keys = options.pinnedPublicKeys[request.origin.host] {
            set(CURLOPT_PINNEDPUBLICKEY, to: keys.joined(separator: ";"))
        }
    }

    private func setConnectionOptions(_ options: EngineOptions) {
        switch options.proxy {
        case .environment: break
        case .none: set(CURLOPT_PROXY, to: "")
        case .url(let url): set(CURLOPT_PROXY, to: url)
        }
        switch options.addressFamily {
        case .any: break
        case .ipv4: set(CURLOPT_IPRESOLVE, to: Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, to: Int(CURL_IPRESOLVE_V6))
        }
        if options.refusesPrivateNetworks { set(CURLOPT_PROXY, to: "") }
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
        switch request.credentials {
        case .basic(let user, let password):
            set(CURLOPT_HTTPAUTH, to: 1 << 0 /* CURLAUTH_BASIC, a macro with a cast */)
            set(CURLOPT_USERNAME, to: user)
            set(CURLOPT_PASSWORD, to: password)
        case .digest(let user, let password):
            set(CURLOPT_HTTPAUTH, to: 1 << 1 /* CURLAUTH_DIGEST */)
            set(CURLOPT_USERNAME, to: user)
            set(CURLOPT_PASSWORD, to: password)
        case .bearer, nil: break
        }
    }

    private func setHeaders(reusing lastHeaderList: inout HeaderList?) {
        var headers = request.headers
        if case .bearer(let token) = request.credentials { headers["Authorization"] = "Bearer \(token)" }
        // A field that is set here is one that libcurl then does not add: it still decompresses.
        let encodings = headers["Accept-Encoding"]
        if encodings != nil { headers["Accept-Encoding"] = nil }
        handle.setAcceptedEncodings(encodings ?? "gzip, br")
        // Most requests have the same fields as the one before.
        let list = lastHeaderList.flatMap { $0.fields.fields == headers.fields ? $0 : nil } ?? HeaderList(headers)
        lastHeaderList = list
        handle.headerList = list
        eidetic_curl_set_list(easy, CURLOPT_HTTPHEADER, list.pointer)
    }

    private func set(_ option: CURLoption, to value: Int) { eidetic_curl_set_long(easy, option, value) }

    private func set(_ option: CURLoption, to value: String) {
        _ = value.withCString { eidetic_curl_set_string(easy, option, $0) }
    }
}

/// What ends an exchange from a callback: any count but the one that was offered.
private let abortingCount = 0

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    switch exchange.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .taken: return size * count
    case .refused: return abortingCount
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
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    let isAccepted = exchange.receive(head: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isAccepted ? size * count : abortingCount
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
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    guard let networkAddress = NetworkAddress(&address.pointee.addr), networkAddress.isPublic else {
        exchange.refuseAddress(&address.pointee.addr)
        return CURL_SOCKET_BAD
    }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, type, address.pointee.protocol)
}
