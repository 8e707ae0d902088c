public import EideticCore

/// The costs, times and limits of a memory cache's entries, and their order of eviction.
///
/// One lock guards it, which writers take and hits do not. So the limits are exact at every instant.
@usableFromInline
struct MemoryLedger: Sendable {
    /// The accounting of one entry.
    @usableFromInline
    struct Record: Sendable {
        @usableFromInline var key: CacheKey
        @usableFromInline var cost: Int
        @usableFromInline var storageTime: Timestamp
        // `Int64.max` stands for never: a record is five words without padding, which are quick to copy.
        @usableFromInline var expirationNanoseconds: Int64

        /// The time at which the value expires; `nil` for never.
        @usableFromInline var expirationTime: Timestamp? {
            expirationNanoseconds == .max ? nil : Timestamp(nanoseconds: expirationNanoseconds)
        }

        @inlinable
        init(key: CacheKey, cost: Int, storageTime: Timestamp, expirationTime: Timestamp?) {
            self.key = key
            self.cost = cost
            self.storageTime = storageTime
            expirationNanoseconds = expirationTime?.nanoseconds ?? .max
        }
    }

    var policy: any EvictionPolicy
    @usableFromInline var costLimit: Int
    @usableFromInline var countLimit: Int
    @usableFromInline private(set) var totalCost = 0
    @usableFromInline private(set) var count = 0
    /// The records of all slots; a negative cost marks those that are free.
    @usableFromInline private(set) var records: [Record] = []
    private var freeSlots: [Int32] = []
    @usableFromInline var statistics = MemoryStatistics()

    init(policy: any EvictionPolicy, costLimit: Int, countLimit: Int) {
        self.policy = policy
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    @usableFromInline var clock: Double { policy.clock }

    /// The records of all entries.
    var activeRecords: [Record] { records.filter { $0.cost >= 0 } }

    /// Returns `true` if an entry of `cost` bytes is within the limits by itself.
    @usableFromInline
    func accepts(cost: Int) -> Bool { cost <= costLimit && countLimit > 0 }

    /// Returns `true` if an entry of `cost` bytes fits beside the current entries.
    @usableFromInline
    func hasRoom(forCost cost: Int) -> Bool { totalCost <= costLimit - cost && count < countLimit }

    /// Inserts a record; returns the record's slot.
    @usableFromInline
    mutating func insert(_ record: Record) -> Int {
        let slot = freeSlots.popLast().map { Int($0) } ?? records.count
        if slot == records.count { records.append(record) } else { records[slot] = record }
        totalCost += record.cost
        count += 1
        policy.insert(slot, hash: record.key.high, cost: record.cost)
        return slot
    }

    /// Removes the record of an entry that is removed for another reason than eviction.
    @usableFromInline
    mutating func remove(_ slot: Int) -> Record {
        policy.remove(slot)
        return removeRecord(inSlot: slot)
    }

    /// Removes the record of the entry that the policy selects.
    @usableFromInline
    mutating func evict(usage: (_ slot: Int) -> EntryUsage) -> (slot: Int, record: Record)? {
        guard let slot = policy.evict(usage: usage) else { return nil }
        return (slot, removeRecord(inSlot: slot))
    }

    private mutating func removeRecord(inSlot slot: Int) -> Record {
        let record = records[slot]
        records[slot].cost = -1
        freeSlots.append(Int32(slot))
        totalCost -= record.cost
        count -= 1
        return record
    }
}
