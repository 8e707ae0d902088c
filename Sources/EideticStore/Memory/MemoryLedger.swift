public import EideticCore

/// What the memory cache knows of its entries beside their values: costs, ages, limits and the order of eviction.
///
/// Guarded by one lock, which writers take and hits do not: so limits are exact at every instant over all entries.
@usableFromInline
struct MemoryLedger: Sendable {
    /// One entry.
    @usableFromInline
    struct Record: Sendable {
        @usableFromInline var key: CacheKey
        @usableFromInline var cost: Int
        @usableFromInline var stored: Timestamp
        // The end of time stands for never: a record is five whole words, which are quick to copy.
        @usableFromInline var expirationNanoseconds: Int64

        /// When the value is not found any more; `nil` for never.
        @usableFromInline var expires: Timestamp? {
            expirationNanoseconds == .max ? nil : Timestamp(nanoseconds: expirationNanoseconds)
        }

        @inlinable
        init(key: CacheKey, cost: Int, stored: Timestamp, expires: Timestamp?) {
            self.key = key
            self.cost = cost
            self.stored = stored
            expirationNanoseconds = expires?.nanoseconds ?? .max
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

    /// The policy's time.
    @usableFromInline var clock: Double { policy.clock }

    /// The records of all entries.
    var activeRecords: [Record] { records.filter { $0.cost >= 0 } }

    /// Whether an entry of `cost` bytes may ever be held.
    @usableFromInline
    func accepts(cost: Int) -> Bool { cost <= costLimit && countLimit > 0 }

    /// Whether an entry of `cost` bytes fits beside the others now.
    @usableFromInline
    func hasRoom(forCost cost: Int) -> Bool { totalCost <= costLimit - cost && count < countLimit }

    /// Enters a record, and gives its slot.
    @usableFromInline
    mutating func insert(_ record: Record) -> Int {
        let slot = freeSlots.popLast().map { Int($0) } ?? records.count
        if slot == records.count { records.append(record) } else { records[slot] = record }
        totalCost += record.cost
        count += 1
        policy.insert(slot, hash: record.key.high, cost: record.cost)
        return slot
    }

    /// Takes the record of an entry out that goes for another reason than eviction.
    @usableFromInline
    mutating func remove(_ slot: Int) -> Record {
        policy.remove(slot)
        return removeRecord(inSlot: slot)
    }

    /// Takes the record of the entry out that the policy lets go.
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
