public import EideticCore

/// Values that leave the cache: named first, then all taken out of the table at once, and released when no lock is
/// held any more.
@usableFromInline
struct Departures<Value: Sendable>: Sendable {
    @usableFromInline
    struct Departure: Sendable {
        @usableFromInline let key: CacheKey
        @usableFromInline let reason: MemoryRemovalReason
        @usableFromInline var value: Value?

        @inlinable
        init(key: CacheKey, reason: MemoryRemovalReason) {
            self.key = key
            self.reason = reason
        }
    }

    // One is the usual number, and needs no array.
    @usableFromInline var first: Departure?
    @usableFromInline var others: [Departure] = []

    @inlinable
    init() {}

    /// Names a value that is to go.
    @inlinable
    mutating func append(_ key: CacheKey, _ reason: MemoryRemovalReason) {
        let departure = Departure(key: key, reason: reason)
        if first == nil { first = departure } else { others.append(departure) }
    }

    /// Takes what was named out of the table.
    @inlinable
    mutating func collect(from table: UnsafeMutablePointer<MemoryTable<Value>>) {
        guard let key = first?.key else { return }
        first?.value = table.pointee.remove(key)
        for index in others.indices { others[index].value = table.pointee.remove(others[index].key) }
    }
}
