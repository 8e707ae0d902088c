/// Where a URL leads: scheme, host and port.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host's name or address in lower case; an IPv6 address in its brackets.
    public let host: String
    /// The port; the scheme's own where the URL names none.
    public let port: Int

    /// `host:port`.
    public var description: String { "\(host):\(port)" }
}
