internal import EideticCore

/// Values that leave the cache: named first, then all taken out of the table at once, and released when no lock is
/// held any more.
@usableFromInline
struct Departures<Value: Sendable>: Sendable {
    @usableFromInline
    struct Departure: Sendable {
        @usableFromInline let record: MemoryLedger.Record
        @usableFromInline let reason: MemoryRemovalReason
        @usableFromInline var value: Value?

        @inlinable
        init(_ record: MemoryLedger.Record, _ reason: MemoryRemovalReason) {
            self.record = record
            self.reason = reason
        }
    }

    // One is the usual number, and needs no array.
    @usableFromInline var first: Departure?
    @usableFromInline var others: [Departure] = []

    /// Other values to be released with them.
    @usableFromInline var released: [Value] = []

    @inlinable
    init() {}

    /// All, in the order in which they were named.
    var all: [Departure] { (first.map { [$0] } ?? []) + others }

    /// Names a value that is to go.
    @inlinable
    mutating func append(_ record: MemoryLedger.Record, _ reason: MemoryRemovalReason) {
        let departure = Departure(record, reason)
        if first == nil { first = departure } else { others.append(departure) }
    }

    /// Takes what was named out of the table.
    @inlinable
    mutating func collect(from table: UnsafeMutablePointer<MemoryTable<Value>>) {
        guard let key = first?.record.key else { return }
        first?.value = table.pointee.remove(key)
        for index in others.indices { others[index].value = table.pointee.remove(others[index].record.key) }
    }

    /// Calls `body` with each.
    @inlinable
    func forEach(_ body: (Departure) -> Void) {
        if let first { body(first) }
        for departure in others { body(departure) }
    }
}
