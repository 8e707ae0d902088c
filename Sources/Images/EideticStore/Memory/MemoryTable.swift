public import EideticCore
public import Synchronization

/// The hash table of a memory cache: open addressing with linear probing, and deletion that shifts entries back.
///
/// A key is a hash already, so its lower half selects the bucket. At most half of the buckets are occupied. Each entry
/// also has a slot, its index in the ledger, which leads to its bucket without a search.
///
/// Only one thread at a time changes the table, with all of ``MemoryStripes`` locked. A thread that holds one stripe
/// may look entries up and record hits, for which the entry has atomic fields.
@usableFromInline
struct MemoryTable<Value: Sendable>: ~Copyable {
    /// A bucket, free or occupied.
    @usableFromInline
    struct Entry: ~Copyable {
        @usableFromInline var low: UInt64 = 0
        @usableFromInline var high: UInt64 = 0
        @usableFromInline var value: Value?
        /// The bit pattern of the policy's clock at the latest hit.
        @usableFromInline let clock = Atomic<UInt64>(0)
        /// The entry's slot in the ledger; -1 marks a free bucket.
        @usableFromInline var slot: Int32 = -1
        /// The number of hits since the policy last read it.
        @usableFromInline let hits = Atomic<UInt8>(0)
        /// The time at which the value expires; the largest one for a value that does not.
        @usableFromInline var expirationTime = Timestamp(nanoseconds: .max)

        @inlinable
        init() {}

        @inlinable
        init(key: CacheKey, value: Value, slot: Int, expirationTime: Timestamp) {
            low = key.low
            high = key.high
            self.value = value
            self.slot = Int32(truncatingIfNeeded: slot)
            self.expirationTime = expirationTime
        }
    }

    @usableFromInline var entries: UnsafeMutablePointer<Entry>
    /// The bucket of each slot's entry; there are half as many slots as buckets.
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
    static func allocate(bucketCount: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: bucketCount)
        for index in 0..<bucketCount { (entries + index).initialize(to: Entry()) }
        return entries
    }

    /// Returns the entry of `key`; the pointer is valid until the table changes.
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

    /// Returns the entry of an occupied slot; the pointer is valid until the table changes.
    @inlinable
    @inline(__always)
    func entry(inSlot slot: Int) -> UnsafeMutablePointer<Entry> { entries + Int(bucketIndices[slot]) }

    /// Inserts an entry whose key is not in the table.
    @inlinable
    mutating func insert(key: CacheKey, value: Value, slot: Int, expirationTime: Timestamp) {
        if (count + 1) * 2 > mask + 1 { grow() }
        store(Entry(key: key, value: value, slot: slot, expirationTime: expirationTime))
        count += 1
    }

    /// Stores an entry in the first free bucket from its preferred one.
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

    @inlinable
    mutating func remove(slot: Int) -> Value? {
        let entry = entry(inSlot: slot)
        let value = entry.pointee.value.take()
        entry.pointee.slot = -1
        count -= 1
        closeGap(at: entry - entries)
        return value
    }

    /// Shifts entries back that would not be found any more because of the gap before them.
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
    /// Counts a hit; counting stops at 15, beyond which policies do not distinguish.
    ///
    /// An entry that is used often is then only read, so threads do not take its cache line from each other. If two
    /// threads count at once, one hit may be lost.
    @inlinable
    @inline(__always)
    func recordHit(clock now: UInt64) {
        let count = hits.load(ordering: .relaxed)
        if count < 15 { hits.store(count &+ 1, ordering: .relaxed) }
        if clock.load(ordering: .relaxed) != now { clock.store(now, ordering: .relaxed) }
    }

    /// Returns the usage since the last call, and resets it.
    ///
    /// A hit that happens meanwhile may be lost.
    @inlinable
    func consumeUsage() -> EntryUsage {
        let count = hits.load(ordering: .relaxed)
        guard count > 0 else { return .unused }
        hits.store(0, ordering: .relaxed)
        return EntryUsage(hits: Int(count), clock: Double(bitPattern: clock.load(ordering: .relaxed)))
    }
}
