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
        init(key: CacheKey, value: Value, slot: Int, canExpire: Bool) {
            low = key.low
            high = key.high
            self.value = value
            self.slot = Int32(truncatingIfNeeded: slot)
            self.canExpire = canExpire
        }
    }

    @usableFromInline var entries: UnsafeMutablePointer<Entry>
    /// The place of each slot's entry; half as many as there are places.
    @usableFromInline var bucketIndices: UnsafeMutablePointer<Int32>
    @usableFromInline var mask: Int
    @usableFromInline var count = 0

    @inlinable
    init() {
        mask = 63
        entries = Self.allocate(bucketCount: 64)
        bucketIndices = .allocate(capacity: 32)
    }

    @inlinable
    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
        bucketIndices.deallocate()
    }

    @inlinable
    static func allocate(bucketCount places: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: places)
        for index in 0..<places { (entries + index).initialize(to: Entry()) }
        return entries
    }

    /// The entry of `key`; valid until the table changes.
    @inlinable
    @inline(__always)
    func entry(for key: CacheKey) -> UnsafeMutablePointer<Entry>? {
        var index = Int(truncatingIfNeeded: key.low) & mask
        while true {
            let entry = entries + index
            if entry.pointee.low == key.low, entry.pointee.high == key.high, entry.pointee.slot >= 0 { return entry }
            if entry.pointee.slot < 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    /// The entry of a slot that is taken; valid until the table changes.
    @inlinable
    @inline(__always)
    func entry(inSlot slot: Int) -> UnsafeMutablePointer<Entry> { entries + Int(bucketIndices[slot]) }

    /// Puts an entry in whose key is not there.
    @inlinable
    mutating func insert(key: CacheKey, value: Value, slot: Int, canExpire: Bool) {
        if (count + 1) * 2 > mask + 1 { grow() }
        store(Entry(key: key, value: value, slot: slot, canExpire: canExpire))
        count += 1
    }

    /// Puts an entry at the first free place from where it belongs.
    @inlinable
    func store(_ entry: consuming Entry) {
        var index = Int(truncatingIfNeeded: entry.low) & mask
        while entries[index].slot >= 0 { index = (index &+ 1) & mask }
        bucketIndices[Int(entry.slot)] = Int32(truncatingIfNeeded: index)
        entries[index] = entry
    }

    @inlinable
    mutating func grow() {
        let (old, count) = (entries, mask + 1)
        entries = Self.allocate(bucketCount: count * 2)
        mask = count * 2 - 1
        bucketIndices.deallocate()
        bucketIndices = .allocate(capacity: count)
        for index in 0..<count {
            let entry = (old + index).move()
            if entry.slot >= 0 { store(entry) }
        }
        old.deallocate()
    }

    /// Takes the entry of a slot out and gives its value.
    @inlinable
    mutating func remove(slot: Int) -> Value? {
        let entry = entry(inSlot: slot)
        let value = entry.pointee.value.take()
        entry.pointee.slot = -1
        count -= 1
        closeGap(at: entry - entries)
        return value
    }

    /// Shifts the entries after `gap` back that would not be found any more.
    @inlinable
    func closeGap(at gap: Int) {
        var gap = gap
        var index = (gap &+ 1) & mask
        while entries[index].slot >= 0 {
            let preferredIndex = Int(truncatingIfNeeded: entries[index].low) & mask
            if (index &- preferredIndex) & mask >= (index &- gap) & mask {
                bucketIndices[Int(entries[index].slot)] = Int32(truncatingIfNeeded: gap)
                entries[gap] = (entries + index).move()
                (entries + index).initialize(to: Entry())
                gap = index
            }
            index = (index &+ 1) & mask
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
    func recordHit(clock now: UInt64) {
        let count = hits.load(ordering: .relaxed)
        if count < 15 { hits.store(count &+ 1, ordering: .relaxed) }
        if clock.load(ordering: .relaxed) != now { clock.store(now, ordering: .relaxed) }
    }

    /// The use since the last call.
    ///
    /// A hit that comes in between may be lost.
    @inlinable
    func consumeUsage() -> EntryUsage {
        let count = hits.load(ordering: .relaxed)
        guard count > 0 else { return .unused }
        hits.store(0, ordering: .relaxed)
        return EntryUsage(hits: Int(count), clock: Double(bitPattern: clock.load(ordering: .relaxed)))
    }
}
