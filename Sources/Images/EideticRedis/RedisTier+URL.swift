#if Redis
public import EideticCore

extension RedisTier.Configuration {
    /// Creates a configuration from a URL.
    ///
    /// | form | server |
    /// |---|---|
    /// | `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]` | TCP; port 6379 and database 0 by default |
    /// | `redis://HOST:PORT,HOST:PORT` | nodes of a cluster |
    /// | `unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE]` | a Unix socket |
    ///
    /// User and password are percent-encoded. An address of IPv6 stands in brackets.
    ///
    /// - Parameter url: The URL.
    /// - Throws: `invalidURL`, and `tlsFailure` for `rediss`: connections with TLS are not supported, because hiredis
    ///   0.14 has none.
    public init(url: String) throws(EideticError) {
        let parts = Substring(url).split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Self.error(in: url, reason: "it has no scheme such as redis://") }
        var rest = parts[1]
        let access = Self.removeAccess(from: &rest)
        switch parts[0].lowercased() {
        case "redis": (servers, database) = try Self.parseHosts(rest, url: url)
        case "unix", "redis+unix": (servers, database) = try Self.parsePath(rest, url: url)
        case "rediss":
            throw EideticError(
                .tlsFailure,
                message: "\(Self.redacted(url)): TLS is not supported, because hiredis 0.14 has none; use a Unix "
                    + "socket, or a tunnel such as stunnel or WireGuard"
            )
        default: throw Self.error(in: url, reason: "the scheme is not redis or unix")
        }
        user = access?.user
        password = access?.password
        try validate()
    }

    /// Removes the user and the password from the start of a text, and returns them.
    private static func removeAccess(from text: inout Substring) -> (user: String?, password: String)? {
        let authority = text.prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return nil }
        let access = authority[..<at]
        text = text[text.index(after: at)...]
        let (user, password) = access.divided(at: UInt8(ascii: ":")) ?? ("", access)
        return (user.isEmpty ? nil : decoded(user), decoded(password))
    }

    private static func parseHosts(_ text: Substring, url: String) throws(EideticError) -> ([RedisServer], Int) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var servers: [RedisServer] = []
        for host in parts[0].split(separator: ",", omittingEmptySubsequences: false) {
            guard let server = RedisServer(address: host) else {
                throw error(in: url, reason: "\"\(host)\" is not a host with a port")
            }
            servers.append(server)
        }
        return (servers, try parseDatabase(parts.count == 2 ? parts[1] : "", url: url))
    }

    private static func parsePath(_ text: Substring, url: String) throws(EideticError) -> ([RedisServer], Int) {
        let parts = text.split(separator: "?db=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].hasPrefix("/") else { throw error(in: url, reason: "the path of the socket is not absolute") }
        let path = decoded(parts[0])
        // The size of `sockaddr_un.sun_path`, with its end.
        guard path.utf8.count < 108 else {
            throw error(in: url, reason: "the path of the socket is longer than 107 bytes")
        }
        return ([.unix(path: path)], try parseDatabase(parts.count == 2 ? parts[1] : "", url: url))
    }

    private static func parseDatabase(_ text: Substring, url: String) throws(EideticError) -> Int {
        if text.isEmpty { return 0 }
        guard let number = Int(text), number >= 0 else {
            throw error(in: url, reason: "\"\(text)\" is not the number of a database")
        }
        return number
    }

    private static func error(in url: String, reason: String) -> EideticError {
        EideticError(.invalidURL, message: "\(redacted(url)): \(reason)")
    }

    /// Returns a URL without its user and password, for messages.
    static func redacted(_ url: String) -> String {
        guard let at = url.utf8.lastIndex(of: UInt8(ascii: "@")),
            let scheme = url.utf8.firstIndex(of: UInt8(ascii: ":")), scheme < at
        else { return url }
        return "\(url[..<scheme])://…\(url[at...])"
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] * 16 + digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RedisServer {
    /// Creates an address from `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`; `nil` if the text is neither.
    init?(address: Substring) {
        var host = address
        var port = Self.standardPort
        if let colon = address.lastIndex(of: ":"), !address.hasSuffix("]") {
            guard let number = Int(address[address.index(after: colon)...]), (1...65_535).contains(number) else {
                return nil
            }
            host = address[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "[" || $0 == "]" }) else { return nil }
        self = .tcp(host: String(host), port: port)
    }
}
#endif
