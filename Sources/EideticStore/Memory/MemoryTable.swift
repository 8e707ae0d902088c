public import EideticCore
public import Synchronization

/// Keys and values of the memory cache: open addressing with linear probing, and deletion that shifts entries back.
///
/// The key is a hash already, so its lower half is the place. At most half of the places are taken. Slots are as many as
/// there ever were entries at once; where the entry of each stands is known without a search.
///
/// Only one thread at a time changes the table, with all of ``MemoryStripes`` locked. Who holds one stripe may look
/// entries up, and note a hit, for which the entry has atomic fields.
@usableFromInline
struct MemoryTable<Value: Sendable>: ~Copyable {
    @usableFromInline
    struct Entry: ~Copyable {
        @usableFromInline var low: UInt64 = 0
        @usableFromInline var high: UInt64 = 0
        @usableFromInline var value: Value?
        /// The policy's clock at the latest hit, as its bits.
        @usableFromInline let clock = Atomic<UInt64>(0)
        /// The entry's number in the ledger; -1 marks a free place.
        @usableFromInline var slot: Int32 = -1
        /// Hits since the policy last asked.
        @usableFromInline let hits = Atomic<UInt8>(0)
        /// Whether the ledger knows a time at which it expires.
        @usableFromInline var canExpire = false

        @inlinable
        init() {}

        @inlinable
        init(_ key: CacheKey, _ value: Value, slot: Int, canExpire: Bool) {
            low = key.low
            high = key.high
            self.value = value
            self.slot = Int32(truncatingIfNeeded: slot)
            self.canExpire = canExpire
        }
    }

    @usableFromInline var entries: UnsafeMutablePointer<Entry>
    /// The place of each slot's entry; half as many as there are places.
    @usableFromInline var places: UnsafeMutablePointer<Int32>
    @usableFromInline var mask: Int
    @usableFromInline var count = 0

    @inlinable
    init() {
        mask = 63
        entries = Self.allocate(64)
        places = .allocate(capacity: 32)
    }

    @inlinable
    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
        places.deallocate()
    }

    @inlinable
    static func allocate(_ places: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: places)
        for place in 0..<places { (entries + place).initialize(to: Entry()) }
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
            place = (place &+ 1) & mask
        }
    }

    /// The entry of a slot that is taken; valid until the table changes.
    @inlinable
    @inline(__always)
    func entry(of slot: Int) -> UnsafeMutablePointer<Entry> { entries + Int(places[slot]) }

    /// Puts an entry in whose key is not there.
    @inlinable
    mutating func insert(_ key: CacheKey, _ value: Value, slot: Int, canExpire: Bool) {
        if (count + 1) * 2 > mask + 1 { grow() }
        put(Entry(key, value, slot: slot, canExpire: canExpire))
        count += 1
    }

    /// Puts an entry at the first free place from where it belongs.
    @inlinable
    func put(_ entry: consuming Entry) {
        var place = Int(truncatingIfNeeded: entry.low) & mask
        while entries[place].slot >= 0 { place = (place &+ 1) & mask }
        places[Int(entry.slot)] = Int32(truncatingIfNeeded: place)
        entries[place] = entry
    }

    @inlinable
    mutating func grow() {
        let (old, count) = (entries, mask + 1)
        entries = Self.allocate(count * 2)
        mask = count * 2 - 1
        places.deallocate()
        places = .allocate(capacity: count)
        for place in 0..<count {
            let entry = (old + place).move()
            if entry.slot >= 0 { put(entry) }
        }
        old.deallocate()
    }

    /// Takes the entry of a slot out and gives its value.
    @inlinable
    mutating func remove(slot: Int) -> Value? {
        let entry = entry(of: slot)
        let value = entry.pointee.value.take()
        entry.pointee.slot = -1
        count -= 1
        closeGap(entry - entries)
        return value
    }

    /// Shifts the entries after `gap` back that would not be found any more.
    @inlinable
    func closeGap(_ gap: Int) {
        var gap = gap
        var place = (gap &+ 1) & mask
        while entries[place].slot >= 0 {
            let home = Int(truncatingIfNeeded: entries[place].low) & mask
            if (place &- home) & mask >= (place &- gap) & mask {
                places[Int(entries[place].slot)] = Int32(truncatingIfNeeded: gap)
                entries[gap] = (entries + place).move()
                (entries + place).initialize(to: Entry())
                gap = place
            }
            place = (place &+ 1) & mask
        }
    }
}

extension MemoryTable.Entry {
    /// Counts a hit, up to 15, which is all that a policy asks for.
    ///
    /// What is used often is then only read, and threads that use it do not take its cache line from each other. When
    /// two count at once, one hit may be lost.
    @inlinable
    @inline(__always)
    func noteHit(clock now: UInt64) {
        let count = hits.load(ordering: .relaxed)
        if count < 15 { hits.store(count &+ 1, ordering: .relaxed) }
        if clock.load(ordering: .relaxed) != now { clock.store(now, ordering: .relaxed) }
    }

    /// The use since the last call.
    ///
    /// A hit that comes in between may be lost.
    @inlinable
    func takeUse() -> EntryUse {
        let count = hits.load(ordering: .relaxed)
        guard count > 0 else { return .none }
        hits.store(0, ordering: .relaxed)
        return EntryUse(hits: Int(count), clock: Double(bitPattern: clock.load(ordering: .relaxed)))
    }
}
