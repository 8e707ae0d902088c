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

    /// Returns the number of values that were removed for `reason`.
    package func removals(for reason: MemoryRemovalReason) -> Int { removals[reason.rawValue] }

    @usableFromInline
    package mutating func recordRemoval(_ reason: MemoryRemovalReason) { removals[reason.rawValue] += 1 }
}

extension MemoryStatistics: CustomStringConvertible {
    /// The counts on one line, as in `8 hits, 2 misses, 4 insertions, 1 removal`.
    ///
    /// Rejections and revivals appear if there are any.
    public var description: String {
        let counts = [
            (hits, "hit", "hits"), (misses, "miss", "misses"), (insertions, "insertion", "insertions"),
            (removals.wrappedSum(), "removal", "removals"), (rejections, "rejection", "rejections"),
            (revivals, "revival", "revivals"),
        ]
        return counts.enumerated()
            .filter { $0.offset < 4 || $0.element.0 > 0 }
            .map { "\($0.element.0) \($0.element.0 == 1 ? $0.element.1 : $0.element.2)" }
            .joined(separator: ", ")
    }
}
