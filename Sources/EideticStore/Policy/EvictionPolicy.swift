/// What a cache tells its policy about the use of one entry since the policy last asked.
@usableFromInline
package struct EntryUsage: Sendable, Hashable {
    /// Hits since the policy last asked; counting may stop at 15.
    package var hits: Int
    /// The policy's ``EvictionPolicy/clock`` at the latest hit; 0 where there was none.
    package var clock: Double

    /// Creates a report.
    @usableFromInline
    package init(hits: Int, clock: Double) {
        self.hits = hits
        self.clock = clock
    }

    /// No use since the policy last asked.
    @usableFromInline package static let unused = EntryUsage(hits: 0, clock: 0)
}

/// Chooses the entry that goes when a cache is full, in terms of bytes.
///
/// A policy knows entries by their slots: small numbers that the cache hands out, and hands out again after the entry
/// went. It is never told of a hit, so that a hit stays as cheap as counting it. It asks instead, when it has to
/// choose: ``evict(use:)`` is given a closure that tells the use of a slot since it last asked.
///
/// The cache calls it from one thread at a time.
package protocol EvictionPolicy: Sendable {
    /// The policy's own time, which the cache notes with each hit; 0 where the policy needs none. Never goes back.
    var clock: Double { get }

    /// Notes that an entry came.
    ///
    /// - Parameters:
    ///   - slot: A slot that is free; at least 0.
    ///   - hash: Says which key it is when the key comes back after it was evicted.
    ///   - cost: Its bytes, at least 0.
    mutating func insert(_ slot: Int, hash: UInt64, cost: Int)

    /// Forgets an entry that went for another reason than ``evict(use:)``.
    mutating func remove(_ slot: Int)

    /// Chooses the entry that goes next, forgets it, and gives its slot.
    ///
    /// - Parameter use: Tells the use of a slot since it was last asked for; asking clears it.
    /// - Returns: `nil` where there is no entry.
    mutating func evict(usage: (Int) -> EntryUsage) -> Int?

    /// Notes that the cache now may hold so many bytes.
    mutating func setCapacity(_ bytes: Int)
}
