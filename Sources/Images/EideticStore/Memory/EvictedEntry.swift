/// An entry that leaves a memory cache.
@usableFromInline
struct EvictedEntry: Sendable {
    @usableFromInline let slot: Int
    @usableFromInline let record: MemoryLedger.Record
    @usableFromInline let reason: MemoryRemovalReason

    @inlinable
    init(slot: Int, record: MemoryLedger.Record, reason: MemoryRemovalReason) {
        self.slot = slot
        self.record = record
        self.reason = reason
    }
}
