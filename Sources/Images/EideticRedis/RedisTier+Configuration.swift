#if Redis
public import EideticCore

extension RedisTier {
    /// The settings of a tier.
    public struct Configuration: Sendable {
        /// The servers: one, or the first known nodes of a cluster, which names the others itself; at least one.
        public var servers: [RedisServer]
        /// The user of Redis's access control lists; `nil`, the default, for the user "default".
        public var user: String?
        /// The password; `nil`, the default, for none.
        public var password: String?
        /// The number of the database; 0, the only one of a cluster, by default.
        public var database = 0
        /// The first part of the names of all keys in the server; "eidetic" by default.
        ///
        /// Tiers with different namespaces share nothing. It must not contain `{` or `}`.
        public var namespace = "eidetic"
        /// The longest time for an operation, with the connection if there is none; above 0, 250 milliseconds by
        /// default.
        public var timeout: Duration = .milliseconds(250)
        /// The time between two attempts to reach a server that did not respond; above 0, 10 seconds by default.
        ///
        /// Meanwhile all operations fail at once.
        public var retryInterval: Duration = .seconds(10)
        /// The largest value that is stored or read; 4 MiB by default, at most 512 MiB.
        public var valueLimit: ByteCount = .mebibytes(4)
        /// The time after which a lease expires unless its holder renews it; above 0, 5 seconds by default.
        public var leaseDuration: Duration = .seconds(5)

        /// Creates a configuration with the defaults.
        public init(servers: [RedisServer]) { self.servers = servers }

        /// Throws `invalidArgument` for a setting out of its range.
        func validate() throws(EideticError) {
            if servers.isEmpty { throw RedisTier.invalidArgument("there is no server") }
            if database < 0 { throw RedisTier.invalidArgument("the database \(database) is below 0") }
            if namespace.contains(where: { $0 == "{" || $0 == "}" }) {
                throw RedisTier.invalidArgument("the namespace \"\(namespace)\" contains a brace")
            }
            for (name, value) in [
                ("time-out", timeout), ("retry interval", retryInterval), ("lease duration", leaseDuration),
            ] where value < .milliseconds(1) {
                throw RedisTier.invalidArgument("the \(name) \(value) is below 1 millisecond")
            }
            guard (1...ByteCount.mebibytes(512).bytes).contains(valueLimit.bytes) else {
                throw RedisTier.invalidArgument("the value limit \(valueLimit) is not between 1 byte and 512 MiB")
            }
        }
    }

    static func invalidArgument(_ reason: String) -> EideticError {
        EideticError(.invalidArgument, message: "Redis: \(reason)")
    }
}

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
