/// Which entry goes first when a cache is full.
public struct EvictionRule: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable {
        case lru
        case s3FIFO
        case greedyDual(useExponent: Double, sizeExponent: Double, maximumUses: Int, remembersEvicted: Bool)
    }

    private let kind: Kind

    /// The rule's name.
    public let description: String

    /// What was not used for the longest time, as in most caches; a scan empties such a cache.
    public static let leastRecentlyUsed = Self(kind: .lru, description: "lru")

    /// S3-FIFO: what came lately and was not used twice, then what was not used lately.
    public static let s3FIFO = Self(kind: .s3FIFO, description: "s3fifo")

    /// GDSF with the square root of the size: what is seldom used for its size.
    public static let greedyDualSizeFrequency = Self(
        kind: .greedyDual(useExponent: 1, sizeExponent: 0.5, maximumUses: 255, remembersEvicted: false),
        description: "gdsf-sqrt"
    )

    /// Finds the most bytes: the default of memory caches, since decoding takes time by the byte.
    public static let mostBytes = Self(
        kind: .greedyDual(useExponent: 1.5, sizeExponent: 0.15, maximumUses: 15, remembersEvicted: true),
        description: "most-bytes"
    )

    /// Finds the most entries, for caches in which each that is missing takes a round trip.
    ///
    /// The disk cache follows the same rule in a way of its own, without a memory of what went.
    public static let mostEntries = Self(
        kind: .greedyDual(useExponent: 1.5, sizeExponent: 0.7, maximumUses: 15, remembersEvicted: true),
        description: "most-entries"
    )

    /// A policy that follows the rule, for a cache of so many bytes.
    package func makePolicy(capacity: Int) -> any EvictionPolicy {
        switch kind {
        case .lru: LRU()
        case .s3FIFO: S3FIFO(capacity: capacity)
        case .greedyDual(let useExponent, let sizeExponent, let maximumUses, let remembersEvicted):
            GreedyDual(
                useExponent: useExponent,
                sizeExponent: sizeExponent,
                maximumUses: maximumUses,
                remembersEvicted: remembersEvicted
            )
        }
    }
}
