package import EideticStore

/// An eviction policy through which recorded requests are replayed.
package struct ReplayPolicy: Sendable, CustomStringConvertible {
    /// The policy's name in reports.
    package let description: String

    private let make: @Sendable (_ capacity: Int) -> any EvictionPolicy

    /// The default of memory caches.
    package static let mostBytes = Self(description: "most-bytes") { _ in GreedyDual.mostBytes }

    /// The rule of the disk cache, in which each missing entry costs a round trip, with a history of evicted entries.
    package static let mostEntries = Self(description: "most-entries") { _ in
        GreedyDual(useExponent: 1.5, sizeExponent: 0.7)
    }

    /// The rule that most caches follow, for comparison.
    package static let leastRecentlyUsed = Self(description: "lru") { _ in LRU() }

    /// S3-FIFO, for comparison.
    package static let s3FIFO = Self(description: "s3fifo") { S3FIFO(capacity: $0) }

    /// GDSF with the square root of the size, for comparison.
    package static let greedyDualSizeFrequency = Self(description: "gdsf-sqrt") { _ in
        GreedyDual(useExponent: 1, sizeExponent: 0.5, maximumUses: 255, remembersEvicted: false)
    }

    private init(description: String, make: @escaping @Sendable (_ capacity: Int) -> any EvictionPolicy) {
        self.description = description
        self.make = make
    }

    /// Returns a new policy for a cache of `capacity` bytes.
    package func makePolicy(capacity: Int) -> any EvictionPolicy { make(capacity) }
}
