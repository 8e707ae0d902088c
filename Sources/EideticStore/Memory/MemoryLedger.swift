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
        @usableFromInline var expires: Timestamp?

        @usableFromInline
        init(_ key: CacheKey, cost: Int, stored: Timestamp, expires: Timestamp?) {
            self.key = key
            self.cost = cost
            self.stored = stored
            self.expires = expires
        }
    }

    var policy: any EvictionPolicy
    @usableFromInline var costLimit: Int
    @usableFromInline var countLimit: Int
    @usableFromInline private(set) var totalCost = 0
    @usableFromInline private(set) var count = 0
    @usableFromInline private(set) var records: [Record?] = []
    private var free: [Int] = []
    @usableFromInline var statistics = MemoryStatistics()

    init(policy: any EvictionPolicy, costLimit: Int, countLimit: Int) {
        self.policy = policy
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// The policy's time.
    @usableFromInline var clock: Double { policy.clock }

    /// The records of all entries.
    var all: [Record] { records.compactMap { $0 } }

    /// Whether an entry of `cost` bytes may ever be held.
    @usableFromInline
    func accepts(_ cost: Int) -> Bool { cost <= costLimit && countLimit > 0 }

    /// Whether an entry of `cost` bytes fits beside the others now.
    @usableFromInline
    func hasRoom(for cost: Int) -> Bool { totalCost <= costLimit - cost && count < countLimit }

    /// Enters a record, and gives its slot.
    @usableFromInline
    mutating func insert(_ record: Record) -> Int {
        let slot = free.popLast() ?? records.count
        if slot == records.count { records.append(record) } else { records[slot] = record }
        totalCost += record.cost
        count += 1
        policy.insert(slot, hash: record.key.high, cost: record.cost)
        return slot
    }

    /// Takes the record of an entry out that goes for another reason than eviction.
    @usableFromInline
    mutating func remove(_ slot: Int) -> Record? {
        let record = records[slot]
        policy.remove(slot)
        forget(slot)
        return record
    }

    /// Takes the record of the entry out that the policy lets go.
    @usableFromInline
    mutating func evict(use: (CacheKey) -> EntryUse) -> Record? {
        guard let slot = Self.victim(&policy, records, use) else { return nil }
        let record = records[slot]
        forget(slot)
        return record
    }

    /// Both are given apart, so that the policy may change while the records are read, and neither is copied.
    private static func victim(
        _ policy: inout any EvictionPolicy,
        _ records: [Record?],
        _ use: (CacheKey) -> EntryUse
    ) -> Int? {
        policy.evict { slot in records[slot].map { use($0.key) } ?? .none }
    }

    private mutating func forget(_ slot: Int) {
        guard let record = records[slot] else { return }
        records[slot] = nil
        free.append(slot)
        totalCost -= record.cost
        count -= 1
    }
}
