package import EideticStore

/// An eviction policy through which recorded requests are replayed.
package struct ReplayPolicy: Sendable, CustomStringConvertible {
    /// The policy's name in reports.
    package let description: String

    private let make: @Sendable (_ capacity: Int) -> any EvictionPolicy

    /// The default of memory caches.
    package static let mostBytes = Self(.mostBytes)

    /// The public rule for caches in which each missing entry costs a round trip.
    package static let mostEntries = Self(.mostEntries)

    /// The public rule that most caches follow.
    package static let leastRecentlyUsed = Self(.leastRecentlyUsed)

    /// S3-FIFO, for comparison.
    package static let s3FIFO = Self(description: "s3fifo") { S3FIFO(capacity: $0) }

    /// GDSF with the square root of the size, for comparison.
    package static let greedyDualSizeFrequency = Self(description: "gdsf-sqrt") { _ in
        GreedyDual(useExponent: 1, sizeExponent: 0.5, maximumUses: 255, remembersEvicted: false)
    }

    private init(_ rule: EvictionRule) { self.init(description: rule.description) { _ in rule.makePolicy() } }

    private init(description: String, make: @escaping @Sendable (_ capacity: Int) -> any EvictionPolicy) {
        self.description = description
        self.make = make
    }

    /// Returns a new policy for a cache of `capacity` bytes.
    package func makePolicy(capacity: Int) -> any EvictionPolicy { make(capacity) }
}
