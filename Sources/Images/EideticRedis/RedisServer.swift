#if Redis
/// The address of a Redis or Valkey server.
public enum RedisServer: Sendable, Hashable, CustomStringConvertible {
    /// A TCP port; the host is a name or an address.
    case tcp(host: String, port: Int)
    /// A Unix socket.
    case unix(path: String)

    /// The port of a server whose address names none.
    public static let standardPort = 6_379

    /// The address as in a URL: `host:6379`, `[::1]:6379` or the path of the socket.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}
#endif
