internal import EideticCore

/// The entries that one change removes from a memory cache, and their values.
///
/// The entries are collected first. Then all values leave the table at once, and are released after all locks.
@usableFromInline
struct EvictedEntries<Value: Sendable>: ~Copyable, Sendable {
    /// The entries behind the first.
    @usableFromInline
    struct Overflow: Sendable {
        @usableFromInline var entries: [EvictedEntry] = []
        @usableFromInline var values: [Value] = []
        /// Further values to release with them.
        @usableFromInline var retainedValues: [Value] = []

        @inlinable
        init() {}
    }

    // One entry is the usual number, and needs no array.
    @usableFromInline var first: EvictedEntry?
    @usableFromInline var firstValue: Value?
    @usableFromInline var overflow: Overflow?

    @inlinable
    init() {}

    /// All entries, in the order in which they were appended.
    var all: [EvictedEntry] { (first.map { [$0] } ?? []) + (overflow?.entries ?? []) }

    @inlinable
    mutating func append(_ entry: EvictedEntry) {
        if first == nil { first = entry } else { appendToOverflow(entry) }
    }

    @usableFromInline
    mutating func appendToOverflow(_ entry: EvictedEntry) {
        if overflow == nil { overflow = Overflow() }
        overflow?.entries.append(entry)
    }

    /// Keeps values alive until all locks are released.
    mutating func deferRelease(of values: [Value]) {
        guard !values.isEmpty else { return }
        if overflow == nil { overflow = Overflow() }
        overflow?.retainedValues += values
    }

    /// Removes the entries from the table, and keeps their values.
    @inlinable
    mutating func extractValues(from table: UnsafeMutablePointer<MemoryTable<Value>>) {
        guard let first else { return }
        firstValue = table.pointee.remove(slot: first.slot)
        guard let entries = overflow?.entries else { return }
        for entry in entries {
            if let value = table.pointee.remove(slot: entry.slot) { overflow?.values.append(value) }
        }
    }

    /// Calls `body` with each entry and its value, after `extractValues(from:)`.
    @inlinable
    func forEach(_ body: (EvictedEntry, Value) -> Void) {
        if let first, let firstValue { body(first, firstValue) }
        if let overflow { for (entry, value) in zip(overflow.entries, overflow.values) { body(entry, value) } }
    }
}

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
