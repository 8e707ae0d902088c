#if Redis
public import EideticCore
public import EideticStore

/// A shared tier in a Redis or Valkey server, or in a cluster of them.
///
/// ```swift
/// let tier = try RedisTier(.init(url: "redis://cache.internal"))
/// ImagePipeline.shared = ImagePipeline { $0.sharedTier = tier }
/// ```
///
/// All operations of a process share one connection to each server, with many commands on their way at a time. A server
/// that does not respond in time, or refuses the connection, is left alone for
/// ``Configuration/retryInterval``: operations then fail at once. No thread of a caller is ever blocked.
///
/// Whoever may write into the server decides which images are shown: it must be reachable by the fleet only.
public final class RedisTier: SharedTier {
    /// The settings of the tier.
    public let configuration: Configuration

    let router: RedisRouter
    let names: RedisKeyNames

    /// Creates a tier; the connection is established by the first operation.
    ///
    /// - Parameter configuration: The settings.
    /// - Throws: `invalidArgument` for a setting out of its range.
    public init(_ configuration: Configuration) throws(EideticError) {
        try configuration.validate()
        self.configuration = configuration
        names = RedisKeyNames(namespace: configuration.namespace)
        let engine = try RedisEngine(configuration)
        router = RedisRouter(engine: engine, seeds: configuration.servers)
    }

    deinit { router.engine.close() }

    /// The largest value that is stored or read.
    public var valueLimit: ByteCount { configuration.valueLimit }

    /// The time after which a lease expires unless its holder renews it.
    public var leaseDuration: Duration { configuration.leaseDuration }

    /// Searches the value for a key, and tries to acquire the lease of the key; in one turn.
    public func lookUp(_ key: String, leasing lease: SharedLease?) async throws(EideticError) -> SharedLookup {
        let name = names.value(for: key)
        // A value over the limit is not transferred as a whole; reading one byte more tells it from one at the limit.
        let read = RedisCommand("GETRANGE", name, "0", "\(configuration.valueLimit.bytes)")
        guard let lease else {
            return SharedLookup(value: value(in: try await router.replies(to: [read], for: name)[0]))
        }
        let leaseName = names.lease(of: key), milliseconds = "\(lease.duration.wholeMilliseconds)"
        let replies = try await router.replies(
            to: [
                RedisCommand("SET", leaseName, lease.token, "NX", "PX", milliseconds), RedisCommand("GET", leaseName),
                read,
            ],
            for: name
        )
        return SharedLookup(value: value(in: replies[2]), lease: Self.state(of: lease, holder: replies[1]))
    }

    /// Stores a value; a time to live below one millisecond stores nothing.
    public func insert(_ value: [UInt8], for key: String, timeToLive: Duration) async throws(EideticError) {
        guard value.count <= configuration.valueLimit.bytes else {
            throw EideticError(
                .limitExceeded,
                message: "a value of \(ByteCount(value.count)) is larger than the limit, \(configuration.valueLimit)"
            )
        }
        guard timeToLive >= .milliseconds(1) else { return }
        let name = names.value(for: key), milliseconds = "\(timeToLive.wholeMilliseconds)"
        let (head, tail) = (["SET", name].map { Array($0.utf8) }, ["PX", milliseconds].map { Array($0.utf8) })
        let command = RedisCommand(head + [value] + tail)
        _ = try await router.replies(to: [command], for: name)
    }

    /// Removes a value, or only the one that was read.
    public func remove(_ key: String, ifEqualTo value: [UInt8]?) async throws(EideticError) {
        let name = names.value(for: key)
        guard let value else {
            _ = try await router.replies(to: [RedisCommand("UNLINK", name)], for: name)
            return
        }
        let limit = "\(configuration.valueLimit.bytes)"
        let head = ["EVAL", RedisScript.removeEqual, "1", name].map { Array($0.utf8) }
        _ = try await router.replies(to: [RedisCommand(head + [value, Array(limit.utf8)])], for: name)
    }

    /// Renews or ends a lease.
    public func update(
        _ lease: SharedLease,
        of key: String,
        to change: SharedLease.Change
    ) async throws(EideticError) {
        let name = names.lease(of: key)
        let (script, duration) =
            switch change {
            case .renewed: (RedisScript.renew, lease.duration)
            case .released: (RedisScript.release, .zero)
            case .waived(let duration): (RedisScript.waive, duration)
            }
        let milliseconds = "\(max(1, duration.wholeMilliseconds))"
        let command = RedisCommand("EVAL", script, "1", name, lease.token, milliseconds)
        _ = try await router.replies(to: [command], for: name)
    }
}

extension RedisTier {
    /// Returns the value in a reply to GETRANGE; a key that does not exist, or has another type, has none.
    ///
    /// A value above the limit is none either; it stays for tiers with a higher limit.
    func value(in reply: RedisReply) -> [UInt8]? {
        guard case .bytes(let bytes) = reply, !bytes.isEmpty, bytes.count <= configuration.valueLimit.bytes else {
            return nil
        }
        return bytes
    }

    private static func state(of lease: SharedLease, holder: RedisReply) -> SharedLease.State {
        // What is no lease, as a foreign key of its name or the reply of another service, must not delay loads; nor one
        // that has ended meanwhile.
        guard case .bytes(let bytes) = holder, let token = SharedLease.token(in: bytes) else { return .waived }
        return token == lease.token ? .granted : .held
    }
}

extension Duration {
    /// The number of whole milliseconds, rounded down; at most 292,000 years, to which a server can add its time.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Int64.max / 1_000_000
        return min(max(seconds, -limit), limit) * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
#endif
