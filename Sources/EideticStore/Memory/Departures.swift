internal import EideticCore

/// An entry that is to leave the cache.
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

/// Values that leave the cache: named first, then all taken out of the table at once, and released when no lock is
/// held any more.
@usableFromInline
struct EvictedEntries<Value: Sendable>: ~Copyable, Sendable {
    /// All but the first.
    @usableFromInline
    struct Overflow: Sendable {
        @usableFromInline var entries: [EvictedEntry] = []
        @usableFromInline var values: [Value] = []
        /// Other values to be released with them.
        @usableFromInline var retainedValues: [Value] = []

        @inlinable
        init() {}
    }

    // One is the usual number, and needs no array.
    @usableFromInline var first: EvictedEntry?
    @usableFromInline var firstValue: Value?
    @usableFromInline var overflow: Overflow?

    @inlinable
    init() {}

    /// All, in the order in which they were named.
    var all: [EvictedEntry] { (first.map { [$0] } ?? []) + (overflow?.entries ?? []) }

    /// Names an entry that is to go.
    @inlinable
    mutating func append(_ entry: EvictedEntry) {
        if first == nil { first = entry } else { appendToOverflow(entry) }
    }

    @usableFromInline
    mutating func appendToOverflow(_ entry: EvictedEntry) {
        if overflow == nil { overflow = Overflow() }
        overflow?.entries.append(entry)
    }

    /// Holds values until no lock is held any more.
    mutating func deferRelease(of values: [Value]) {
        guard !values.isEmpty else { return }
        if overflow == nil { overflow = Overflow() }
        overflow?.retainedValues += values
    }

    /// Takes what was named out of the table.
    @inlinable
    mutating func extractValues(from table: UnsafeMutablePointer<MemoryTable<Value>>) {
        guard let first else { return }
        firstValue = table.pointee.remove(slot: first.slot)
        guard let entries = overflow?.entries else { return }
        for entry in entries {
            if let value = table.pointee.remove(slot: entry.slot) { overflow?.values.append(value) }
        }
    }

    /// Calls `body` with each and its value, after they were taken out.
    @inlinable
    func forEach(_ body: (EvictedEntry, Value) -> Void) {
        if let first, let firstValue { body(first, firstValue) }
        if let overflow { for (entry, value) in zip(overflow.entries, overflow.values) { body(entry, value) } }
    }
}
