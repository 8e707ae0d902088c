/// Counts of a memory cache's operations since its creation.
@usableFromInline
package struct MemoryStatistics: Sendable, Hashable {
    /// The number of look-ups that found a value.
    package var hits = 0
    /// The number of look-ups that found no value.
    package var misses = 0
    /// The number of inserted values, including those that replaced another.
    @usableFromInline package var insertions = 0
    /// The number of values that were not stored because they alone exceed the limits.
    @usableFromInline package var rejections = 0
    /// The number of hits on evicted values that were still in use elsewhere.
    package var revivals = 0
    /// The number of counted misses that became hits, minus the number of counted hits that became misses.
    var hitCorrection = 0
    // One number for each reason, in the order of `MemoryRemovalReason.allCases`.
    private var removals: SIMD8<Int> = .zero

    /// Creates statistics with zero counts.
    package init() {}

    /// The fraction of all look-ups that found a value; 0 if there were none.
    package var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// Returns the number of values that were removed for `reason`.
    package func removals(for reason: MemoryRemovalReason) -> Int { removals[reason.rawValue] }

    /// Counts a removed value.
    @usableFromInline
    package mutating func recordRemoval(_ reason: MemoryRemovalReason) { removals[reason.rawValue] += 1 }
}
