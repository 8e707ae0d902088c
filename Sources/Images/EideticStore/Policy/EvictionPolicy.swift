/// A policy that selects the entry to evict from a full cache.
///
/// The policy identifies entries by their slots: small numbers that the cache assigns, and reuses after an entry was
/// removed. The cache does not report hits, so a hit costs no more than counting it. Instead, ``evict(usage:)`` reads
/// the usage of the entries that it considers.
///
/// The cache calls the policy from one thread at a time.
package protocol EvictionPolicy: Sendable {
    /// The policy's own time, which the cache stores with each hit.
    ///
    /// It never decreases, and stays 0 in a policy that needs no time.
    var clock: Double { get }

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - slot: A free slot, at least 0.
    ///   - hash: A hash of the entry's key, by which the policy recognises a key that was evicted before.
    ///   - cost: The entry's bytes, at least 0.
    mutating func insert(_ slot: Int, hash: UInt64, cost: Int)

    /// Removes an entry that leaves the cache for another reason than ``evict(usage:)``.
    mutating func remove(_ slot: Int)

    /// Selects the entry to evict, and removes it from the policy.
    ///
    /// - Parameter usage: Returns the usage of a slot since the last call for it, and resets it.
    /// - Returns: The entry's slot; `nil` if there is no entry.
    mutating func evict(usage: (Int) -> EntryUsage) -> Int?
}

/// The use of one cache entry since its eviction policy last read it.
@usableFromInline
package struct EntryUsage: Sendable, Hashable {
    /// The number of hits; counting may stop at 15.
    package var hits: Int

    /// The policy's ``EvictionPolicy/clock`` at the latest hit; 0 without hits.
    package var clock: Double

    @usableFromInline
    package init(hits: Int, clock: Double) {
        self.hits = hits
        self.clock = clock
    }

    /// The usage of an entry without hits.
    @usableFromInline package static let unused = EntryUsage(hits: 0, clock: 0)
}
