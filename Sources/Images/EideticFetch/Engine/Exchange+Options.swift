import CCurl
import EideticCore
import EideticHTTP

extension Exchange {
    var isSecure: Bool { request.origin.scheme == "https" }

    /// Sets all options of the handle.
    func configure(with options: EngineOptions, lastHeaderList: inout HeaderList?) {
        options.curl.apply(to: handle, host: request.origin.host)
        setReadAhead(options)
        set(CURLOPT_URL, to: request.url)
        set(CURLOPT_PIPEWAIT, to: isSecure ? 1 : 0)
        if request.fetchRequest.allowsInvalidCertificates {
            set(CURLOPT_SSL_VERIFYPEER, to: 0)
            set(CURLOPT_SSL_VERIFYHOST, to: 0)
        }
        setCredentials()
        setMethod()
        setHeaders(reusing: &lastHeaderList)
        // An empty file name enables cookies without reading any.
        if request.fetchRequest.usesCookies { set(CURLOPT_COOKIEFILE, to: "") }
        handle.setReceiver(self, refusesPrivateNetworks: options.refusesPrivateNetworks)
    }

    /// Restricts the connections that may be reused.
    func apply(_ policy: ConnectionHealth.ReusePolicy) {
        if policy.requiresNewConnection { set(CURLOPT_FRESH_CONNECT, to: 1) }
        if let age = policy.maximumAge { set(CURLOPT_MAXLIFETIME_CONN, to: Int(age.inSeconds)) }
    }

    /// Makes libcurl close the connection after its last exchange instead of reusing it.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, to: 1) }

    private func setReadAhead(_ options: EngineOptions) {
        if options.refusesPrivateNetworks { set(CURLOPT_PROXY, to: "") }
        switch options.curl.proxy {
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

    private func set(_ option: CURLoption, to value: Int) { handle.set(option, to: value) }

    private func set(_ option: CURLoption, to value: String) { handle.set(option, to: value) }
}
