internal import EideticCore

/// An entry that is to leave the cache.
@usableFromInline
struct Departure: Sendable {
    @usableFromInline let slot: Int
    @usableFromInline let record: MemoryLedger.Record
    @usableFromInline let reason: MemoryRemovalReason

    @inlinable
    init(_ slot: Int, _ record: MemoryLedger.Record, _ reason: MemoryRemovalReason) {
        self.slot = slot
        self.record = record
        self.reason = reason
    }
}

/// Values that leave the cache: named first, then all taken out of the table at once, and released when no lock is
/// held any more.
@usableFromInline
struct Departures<Value: Sendable>: ~Copyable, Sendable {
    /// All but the first.
    @usableFromInline
    struct Others: Sendable {
        @usableFromInline var named: [Departure] = []
        @usableFromInline var values: [Value] = []
        /// Other values to be released with them.
        @usableFromInline var released: [Value] = []

        @inlinable
        init() {}
    }

    // One is the usual number, and needs no array.
    @usableFromInline var first: Departure?
    @usableFromInline var value: Value?
    @usableFromInline var others: Others?

    @inlinable
    init() {}

    /// All, in the order in which they were named.
    var all: [Departure] { (first.map { [$0] } ?? []) + (others?.named ?? []) }

    /// Names an entry that is to go.
    @inlinable
    mutating func append(_ departure: Departure) {
        if first == nil { first = departure } else { appendOther(departure) }
    }

    @usableFromInline
    mutating func appendOther(_ departure: Departure) {
        if others == nil { others = Others() }
        others?.named.append(departure)
    }

    /// Holds values until no lock is held any more.
    mutating func hold(_ values: [Value]) {
        guard !values.isEmpty else { return }
        if others == nil { others = Others() }
        others?.released += values
    }

    /// Takes what was named out of the table.
    @inlinable
    mutating func collect(from table: UnsafeMutablePointer<MemoryTable<Value>>) {
        guard let first else { return }
        value = table.pointee.remove(slot: first.slot)
        guard let named = others?.named else { return }
        for departure in named {
            if let value = table.pointee.remove(slot: departure.slot) { others?.values.append(value) }
        }
    }

    /// Calls `body` with each and its value, after they were taken out.
    @inlinable
    func forEach(_ body: (Departure, Value) -> Void) {
        if let first, let value { body(first, value) }
        if let others { for (departure, value) in zip(others.named, others.values) { body(departure, value) } }
    }
}
