public import EideticCore

/// One shard of the memory cache: open addressing with linear probing, and deletion that shifts entries back.
///
/// The key is a hash already, so its lower half is the place; the upper half chose the shard. At most half of the
/// places are taken. Guarded by the shard's lock.
@usableFromInline
struct MemoryTable<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // Safe to send: the table alone owns its memory.

    @usableFromInline
    struct Entry {
        @usableFromInline var low: UInt64 = 0
        @usableFromInline var high: UInt64 = 0
        /// `nil` marks a free place.
        @usableFromInline var value: Value?
        /// The policy's clock at the latest hit.
        @usableFromInline var clock: Double = 0
        /// The entry's number in the ledger.
        @usableFromInline var slot: Int32 = -1
        /// Hits since the policy last asked.
        @usableFromInline var hits: UInt8 = 0
        /// Whether the ledger knows a time at which it expires.
        @usableFromInline var canExpire = false

        @inlinable
        init(_ key: CacheKey, _ value: Value?, slot: Int, canExpire: Bool) {
            low = key.low
            high = key.high
            self.value = value
            self.slot = Int32(truncatingIfNeeded: slot)
            self.canExpire = canExpire
        }

        @inlinable
        init() {}
    }

    @usableFromInline var entries: UnsafeMutablePointer<Entry>
    @usableFromInline var mask: Int
    @usableFromInline var count = 0
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0

    @inlinable
    init() {
        mask = 7
        entries = Self.allocate(8)
    }

    @inlinable
    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
    }

    @inlinable
    static func allocate(_ places: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: places)
        entries.initialize(repeating: Entry(), count: places)
        return entries
    }

    /// The entry of `key`; valid until the table changes.
    @inlinable
    @inline(__always)
    func find(_ key: CacheKey) -> UnsafeMutablePointer<Entry>? {
        var place = Int(truncatingIfNeeded: key.low) & mask
        while true {
            let entry = entries + place
            if entry.pointee.low == key.low, entry.pointee.high == key.high, entry.pointee.slot >= 0 { return entry }
            if entry.pointee.slot < 0 { return nil }
            place = (place + 1) & mask
        }
    }

    /// Puts an entry in whose key is not there.
    @inlinable
    mutating func insert(_ key: CacheKey, _ value: Value, slot: Int, canExpire: Bool) {
        if (count + 1) * 2 > mask + 1 { grow() }
        freePlace(for: key.low).pointee = Entry(key, value, slot: slot, canExpire: canExpire)
        count += 1
    }

    @inlinable
    func freePlace(for low: UInt64) -> UnsafeMutablePointer<Entry> {
        var place = Int(truncatingIfNeeded: low) & mask
        while entries[place].slot >= 0 { place = (place + 1) & mask }
        return entries + place
    }

    @inlinable
    mutating func grow() {
        let old = entries
        let places = mask + 1
        entries = Self.allocate(places * 2)
        mask = places * 2 - 1
        for place in 0..<places where old[place].slot >= 0 {
            freePlace(for: old[place].low).moveUpdate(from: old + place, count: 1)
            (old + place).initialize(to: Entry())
        }
        old.deinitialize(count: places)
        old.deallocate()
    }

    /// Takes the entry of `key` out and gives its value.
    @inlinable
    mutating func remove(_ key: CacheKey) -> Value? {
        guard let entry = find(key) else { return nil }
        let value = entry.pointee.value
        entry.pointee = Entry()
        count -= 1
        closeGap(entry - entries)
        return value
    }

    /// Shifts the entries after `gap` back that would not be found any more.
    @inlinable
    func closeGap(_ gap: Int) {
        var gap = gap
        var place = (gap + 1) & mask
        while entries[place].slot >= 0 {
            let home = Int(truncatingIfNeeded: entries[place].low) & mask
            if (place &- home) & mask >= (place &- gap) & mask {
                swap(&entries[gap], &entries[place])
                gap = place
            }
            place = (place + 1) & mask
        }
    }
}
