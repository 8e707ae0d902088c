/// The rule by which a full cache selects the entries to evict.
public struct EvictionRule: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable {
        case leastRecentlyUsed
        case greedyDual(useExponent: Double, sizeExponent: Double)
    }

    private let kind: Kind

    /// The rule's name.
    public let description: String

    /// Evicts the entry that was not used for the longest time.
    ///
    /// A scan, which uses many entries once, removes everything else from such a cache.
    public static let leastRecentlyUsed = Self(kind: .leastRecentlyUsed, description: "lru")

    /// Maximises the bytes that are found in the cache; the default of memory caches.
    ///
    /// Decoding takes time in proportion to bytes.
    public static let mostBytes = Self(
        kind: .greedyDual(useExponent: 1.5, sizeExponent: 0.15),
        description: "most-bytes"
    )

    /// Maximises the number of entries that are found in the cache, for values each of which costs a round trip.
    ///
    /// The disk cache follows the same rule with an implementation of its own, without a history of evicted entries.
    public static let mostEntries = Self(
        kind: .greedyDual(useExponent: 1.5, sizeExponent: 0.7),
        description: "most-entries"
    )

    /// Returns a new policy that follows the rule.
    package func makePolicy() -> any EvictionPolicy {
        switch kind {
        case .leastRecentlyUsed: LRU()
        case .greedyDual(let useExponent, let sizeExponent):
            GreedyDual(useExponent: useExponent, sizeExponent: sizeExponent)
        }
    }
}
