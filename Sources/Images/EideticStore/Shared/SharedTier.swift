public import EideticCore

/// A cache that several machines share, between their own disks and the network.
///
/// A pipeline searches it after the disk, and stores in it what it has loaded and decoded. Values are opaque: the
/// pipeline verifies each value that it reads, and removes damaged ones. A failing tier makes loads slower, but never
/// makes a load fail: an error of these functions is logged, and the load continues at its source.
///
/// The functions are called on any thread, several at once. They must not block the calling thread, and must return
/// soon even if the tier's server does not respond, because a load waits for ``lookUp(_:leasing:)``. A cancelled task
/// may end with `cancelled`.
public protocol SharedTier: Sendable {
    /// The largest value that the tier stores; larger ones are not offered to it.
    var valueLimit: ByteCount { get }

    /// The time after which a lease expires unless its holder renews it; more than zero.
    ///
    /// It is the longest time by which a crash of one machine delays the others.
    var leaseDuration: Duration { get }

    /// Searches the value for a key, and tries to acquire the lease of the key.
    ///
    /// Only one process at a time holds the lease of a key: it loads from the source while the others wait. The value
    /// must be read after the lease was acquired or refused, so that its holder sees what an earlier holder has stored.
    ///
    /// - Parameters:
    ///   - key: The key, of any length.
    ///   - lease: The lease to acquire; `nil` to search only.
    /// - Returns: The value, and the state of the lease.
    /// - Throws: The error of the tier.
    func lookUp(_ key: String, leasing lease: SharedLease?) async throws(EideticError) -> SharedLookup

    /// Stores a value, and replaces an earlier one.
    ///
    /// - Parameters:
    ///   - value: The value, which is never empty.
    ///   - key: The key.
    ///   - timeToLive: The time after which the value must no longer be found; more than zero.
    /// - Throws: The error of the tier.
    func insert(_ value: [UInt8], for key: String, timeToLive: Duration) async throws(EideticError)

    /// Removes a value.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The value that was read: any other value is left, because another process may have replaced it; `nil`
    ///     to remove any value.
    /// - Throws: The error of the tier.
    func remove(_ key: String, ifEqualTo value: [UInt8]?) async throws(EideticError)

    /// Renews or ends a lease; has no effect if it has expired or another process holds it.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - key: The key.
    ///   - change: The change.
    /// - Throws: The error of the tier.
    func update(_ lease: SharedLease, of key: String, to change: SharedLease.Change) async throws(EideticError)
}

/// A lease of a key in a ``SharedTier``: the exclusive right to load its value from the source.
public struct SharedLease: Sendable, Hashable {
    /// A change of a lease.
    public enum Change: Sendable, Hashable {
        /// It expires only after its whole duration from now.
        case renewed
        /// It is free for the next process.
        case released
        /// It is not needed for the given time: processes load from the source without it.
        ///
        /// This avoids useless waits when a value cannot be shared.
        case waived(Duration)
    }

    /// The state of the lease of a key, as one process sees it.
    public enum State: Sendable, Hashable {
        /// This process has acquired it.
        case granted
        /// Another process holds it.
        case held
        /// It is not needed at present.
        case waived
    }

    /// A unique text that identifies the holder.
    public let token: String
    /// The time after which it expires unless it is renewed.
    public let duration: Duration

    /// Creates a lease with a random token.
    ///
    /// - Parameter duration: The time after which it expires unless it is renewed; more than zero.
    public init(duration: Duration) {
        var generator = SystemRandomNumberGenerator()
        token = Self.mark + String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        self.duration = duration
    }

    /// The beginning of each token.
    private static let mark = "lease:"

    /// Returns the token that bytes are; `nil` if they cannot be one.
    package static func token(in bytes: [UInt8]) -> String? {
        let digits = bytes.dropFirst(mark.utf8.count)
        guard bytes.starts(with: mark.utf8), (2...32).contains(digits.count),
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The result of a search in a ``SharedTier``.
public struct SharedLookup: Sendable, Hashable {
    /// The value; `nil` if there is none.
    public let value: [UInt8]?
    /// The state of the lease; `nil` if none was requested.
    public let lease: SharedLease.State?

    /// Creates a result.
    public init(value: [UInt8]?, lease: SharedLease.State? = nil) { (self.value, self.lease) = (value, lease) }
}
