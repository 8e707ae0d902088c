/// The use of one cache entry since its eviction policy last read it.
@usableFromInline
package struct EntryUsage: Sendable, Hashable {
    /// The number of hits; counting may stop at 15.
    package var hits: Int

    /// The policy's ``EvictionPolicy/clock`` at the latest hit; 0 without hits.
    package var clock: Double

    /// Creates the usage of an entry.
    @usableFromInline
    package init(hits: Int, clock: Double) {
        self.hits = hits
        self.clock = clock
    }

    /// The usage of an entry without hits.
    @usableFromInline package static let unused = EntryUsage(hits: 0, clock: 0)
}
