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
}
