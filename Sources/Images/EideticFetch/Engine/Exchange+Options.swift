import CCurl
import EideticCore
import EideticHTTP

extension Exchange {
    /// The time without an acknowledgement after which the kernel closes a connection.
    ///
    /// - SeeAlso: RFC 5482; tcp(7), `TCP_USER_TIMEOUT`.
    private static let tcpUserTimeout: Duration = .seconds(10)

    var isSecure: Bool { request.origin.scheme == "https" }

    /// Returns a Boolean value indicating whether the request needs no options of its own, so that its handle can be
    /// reused.
    private func hasOnlyCommonOptions(_ options: EngineOptions) -> Bool {
        !request.fetchRequest.usesCookies && !request.fetchRequest.allowsInvalidCertificates
            && request.credentials == nil && request.redirect.method == "GET"
            && options.pinnedPublicKeys[request.origin.host] == nil
    }

    /// Sets all options of the handle.
    ///
    /// - Parameters:
    ///   - options: The options common to all exchanges.
    ///   - cookieJar: The cookies, for requests that use them.
    ///   - lastHeaderList: The header fields of the previous exchange, reused if they are equal.
    func configure(with options: EngineOptions, cookieJar: CookieJar, lastHeaderList: inout HeaderList?) {
        setCommonOptions(options)
        handle.hasOnlyCommonOptions = hasOnlyCommonOptions(options)
        set(CURLOPT_URL, to: request.url)
        set(CURLOPT_PIPEWAIT, to: isSecure ? 1 : 0)
        if !handle.hasOnlyCommonOptions { setTLSOptions(options) }
        setCredentials()
        setMethod()
        setHeaders(reusing: &lastHeaderList)
        if request.fetchRequest.usesCookies {
            // An empty file name enables cookies without reading any.
            set(CURLOPT_COOKIEFILE, to: "")
            eidetic_curl_set_pointer(easy, CURLOPT_SHARE, cookieJar.handle)
        }
        setCallbacks(refusesPrivateNetworks: options.refusesPrivateNetworks)
    }

    /// Restricts the connections that may be reused.
    func apply(_ policy: ConnectionHealth.ReusePolicy) {
        if policy.requiresNewConnection { set(CURLOPT_FRESH_CONNECT, to: 1) }
        if let age = policy.maximumAge { set(CURLOPT_MAXLIFETIME_CONN, to: Int(age.inSeconds)) }
    }

    /// Makes libcurl close the connection after its last exchange instead of reusing it.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, to: 1) }

    /// Sets the options common to all exchanges of an engine.
    private func setCommonOptions(_ options: EngineOptions) {
        set(CURLOPT_PROTOCOLS_STR, to: "http,https")
        set(CURLOPT_NOSIGNAL, to: 1)
        // A slow name server must not block the engine when an exchange is cancelled.
        set(CURLOPT_QUICK_EXIT, to: 1)
        // The engine measures time-outs with its own clock; libcurl's would count stops of the process.
        set(CURLOPT_CONNECTTIMEOUT_MS, to: 86_400_000)
        // libcurl allocates one buffer for each running exchange; larger ones were not faster.
        set(CURLOPT_BUFFERSIZE, to: 65_536)
        // libcurl would decode all bytes of a read at once, and any number of codings.
        set(CURLOPT_HTTP_CONTENT_DECODING, to: 0)
        set(CURLOPT_TCP_KEEPALIVE, to: 1)
        eidetic_curl_set_user_timeout(easy, UInt32(Self.tcpUserTimeout.inMilliseconds))
        set(CURLOPT_HTTP_VERSION, to: CURL_HTTP_VERSION_2TLS)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        set(CURLOPT_USERAGENT, to: options.userAgent)
        // Debian's libcurl has a default CApath, with which it parses all certificates again in every handshake.
        eidetic_curl_set_string(easy, CURLOPT_CAPATH, nil)
        if let file = options.certificateAuthorityFile { set(CURLOPT_CAINFO, to: file) }
        eidetic_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, handle.errorBuffer)
        setConnectionOptions(options)
        setReadAhead(options)
    }

    /// Sets the options that differ from libcurl's defaults, which verify the certificate and its host name.
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

    private func setMethod() {
        let method = request.redirect.method
        guard method != "GET" else { return }
        if let body = request.redirect.body ?? (method == "POST" ? [] : nil) {
            eidetic_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            // A copy of nothing would be a body that is read from standard input.
            var bytes = body.isEmpty ? [0] : body
            _ = bytes.withUnsafeMutableBytes { eidetic_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
        }
        set(CURLOPT_CUSTOMREQUEST, to: method)
    }

    private func setHeaders(reusing lastHeaderList: inout HeaderList?) {
        var headers = request.headers
        if case .bearer(let token) = request.credentials { headers["Authorization"] = "Bearer \(token)" }
        // libcurl removes the field from the list if it sends it itself.
        let encodings = headers["Accept-Encoding"]
        if encodings != nil { headers["Accept-Encoding"] = nil }
        set(CURLOPT_ACCEPT_ENCODING, to: encodings ?? BodyDecoder.Coding.accepted)
        if request.redirect.method != "GET" {
            // Fields that libcurl would add by itself to a body.
            let unwanted = ["Expect", "Content-Type"].filter { headers[$0] == nil }
            let list = HeaderList(headers, removing: unwanted)
            handle.headerList = list
            eidetic_curl_set_list(easy, CURLOPT_HTTPHEADER, list.pointer)
            return
        }
        // Most requests have the same fields as the previous one.
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
