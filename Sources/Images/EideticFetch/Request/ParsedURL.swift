import CCurl
import EideticCore

/// A URL, parsed by libcurl.
///
/// libcurl also makes the connection, so parser and connection always agree on the host.
struct ParsedURL {
    /// The URL in normal form, without fragment, user and password.
    let text: String
    let origin: Origin
    let user: String?
    let password: String?

    private static let maximumLength = 65_536

    init(_ source: String) throws(EideticError) {
        if source.utf8.count <= Self.maximumLength, let plain = PlainURL(source) {
            self.init(text: source, origin: plain.origin)
        } else {
            try self.init(parsing: source)
        }
    }

    private init(text: String, origin: Origin) {
        self.text = text
        self.origin = origin
        user = nil
        password = nil
    }

    /// Creates a URL with libcurl, from text that may not be in normal form.
    init(parsing source: String) throws(EideticError) { try self.init(parsing: source, attempts: 4) }

    /// Creates a URL whose normal form is found by at most `attempts` attempts; two are known to be needed.
    private init(parsing source: String, attempts: Int) throws(EideticError) {
        var trimmed = source.unicodeScalars[...]
        while trimmed.first?.properties.isWhitespace == true { trimmed.removeFirst() }
        while trimmed.last?.properties.isWhitespace == true { trimmed.removeLast() }
        let text = String(trimmed)
        guard text.utf8.count <= Self.maximumLength else {
            throw EideticError(.invalidURL, message: "the URL is longer than \(Self.maximumLength) bytes")
        }
        guard !text.utf8.contains(0), let handle = curl_url() else {
            throw Self.invalidURL(source, reason: "the text contains a NUL")
        }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
        let encoded = EncodedURL.withAuthority(EncodedURL.text(text))
        let result = curl_url_set(handle, CURLUPART_URL, encoded, flags)
        guard result == CURLUE_OK else {
            throw Self.invalidURL(source, reason: String(cString: curl_url_strerror(result)))
        }
        try self.init(handle: handle, source: source, attempts: attempts)
    }

    private init(handle: OpaquePointer, source: String, attempts: Int) throws(EideticError) {
        func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
        let scheme = part(CURLUPART_SCHEME)?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw Self.invalidURL(source, reason: "the scheme \"\(scheme)\" is not supported, only http and https")
        }
        guard let host = part(CURLUPART_HOST).flatMap(Self.normalised), !host.isEmpty,
            let port = part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT).flatMap(Int.init)
        else { throw Self.invalidURL(source, reason: "the host is missing or invalid") }
        // libcurl decodes no control character; without it other credentials would be sent.
        func credential(_ name: CURLUPart) throws(EideticError) -> String? {
            if let text = part(name, flags: CURLU_URLDECODE) { return text }
            guard part(name) == nil else {
                throw Self.invalidURL(source, reason: "its user or password has a control character")
            }
            return nil
        }
        user = try credential(CURLUPART_USER)
        password = try credential(CURLUPART_PASSWORD)
        for removedPart in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            curl_url_set(handle, removedPart, nil, 0)
        }
        guard curl_url_set(handle, CURLUPART_HOST, host, 0) == CURLUE_OK else {
            throw Self.invalidURL(source, reason: "the host is missing or invalid")
        }
        guard let text = part(CURLUPART_URL) else {
            throw Self.invalidURL(source, reason: "it has no normal form")
        }
        // A name that is decoded, or without its dot, may be an address such as 2444, which has a normal form.
        guard text == source || attempts > 0 else { throw Self.invalidURL(source, reason: "it has no normal form") }
        let again = text == source ? nil : try ParsedURL(parsing: text, attempts: attempts - 1)
        self.text = again?.text ?? text
        origin = again?.origin ?? Origin(scheme: scheme, host: host, port: port)
    }

    private static func invalidURL(_ source: String, reason: String) -> EideticError {
        let source = source.withoutPasswordsOfURL, excerpt = source.count > 200 ? "\(source.prefix(200))…" : source
        return EideticError(.invalidURL, message: "\"\(excerpt)\" is no URL that can be loaded: \(reason)")
    }
}

// MARK: Hosts
extension ParsedURL {
    /// Returns the host of a URL with this host in any spelling; the text in lower case if it is invalid.
    static func normalisedHost(_ host: String) -> String {
        (try? ParsedURL("https://\(host)/"))?.origin.host ?? host.lowercased()
    }

    /// Returns a host in ASCII and lower case, without the trailing dot of an absolute name; `nil` if it is invalid,
    /// has a percent sign (URL Standard, "forbidden host code point"), or ends with an empty label.
    private static func normalised(_ host: String) -> String? {
        guard let lowercased = asciiHost(host)?.lowercased() else { return nil }
        let name = lowercased.hasSuffix(".") ? String(lowercased.dropLast()) : lowercased
        // A percent sign would be decoded again, by a proxy for instance.
        return name.hasSuffix(".") || name.contains("%") ? nil : name
    }

    private static func asciiHost(_ host: String) -> String? {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        var ascii = [CChar](repeating: 0, count: 256)
        guard eidetic_curl_ascii_host(host, &ascii, ascii.count) == 1 else { return nil }
        return ascii.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }
}

// MARK: References
extension ParsedURL {
    /// Returns the URL of a reference relative to `base`, or `nil` if it is invalid.
    ///
    /// The fragment of the reference is left out.
    /// - SeeAlso: RFC 3986, section 5.2.2.
    static func resolve(_ reference: String, against base: String) -> String? {
        let scheme = base.prefix { $0 != ":" }
        let encoded = EncodedURL.text(reference)
        let absolute = encoded.hasPrefix("//") ? "\(scheme):\(encoded)" : encoded
        let reference = EncodedURL.withAuthority(EncodedURL.relativePart(of: absolute, toScheme: scheme))
        // libcurl would drop the last part of the path.
        if reference.isEmpty { return base }
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_set(handle, CURLUPART_URL, base, flags) == CURLUE_OK,
            curl_url_set(handle, CURLUPART_URL, reference, flags) == CURLUE_OK,
            curl_url_get(handle, CURLUPART_URL, &text, 0) == CURLUE_OK, let text
        else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

/// The scheme, host and port of a URL.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme: `http` or `https`.
    public let scheme: String
    /// The host name or address in lower case; an IPv6 address in brackets.
    public let host: String
    /// The port; the default of the scheme if the URL has none.
    public let port: Int

    /// The text `host:port`.
    public var description: String { "\(host):\(port)" }

    /// Feeds host and port into the hasher, because few origins differ in their schemes only.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }
}
