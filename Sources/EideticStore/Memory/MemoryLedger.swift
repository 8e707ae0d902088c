internal import EideticCore

/// What the memory cache knows of its entries beside their values: costs, ages, limits and the order of eviction.
///
/// Guarded by one lock, which writers take and hits do not: so limits are exact at every instant over all shards.
struct MemoryLedger: Sendable {
    /// One entry.
    struct Record: Sendable {
        var key: CacheKey
        var cost: Int
        var stored: Timestamp
        var expires: Timestamp?
    }

    var policy: any EvictionPolicy
    var costLimit: Int
    var countLimit: Int
    private(set) var totalCost = 0
    private(set) var count = 0
    private(set) var records: [Record?] = []
    private var free: [Int] = []
    var statistics = MemoryStatistics()

    init(policy: any EvictionPolicy, costLimit: Int, countLimit: Int) {
        self.policy = policy
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// Whether an entry of `cost` bytes may ever be held.
    func accepts(_ cost: Int) -> Bool { cost <= costLimit && countLimit > 0 }

    /// Whether an entry of `cost` bytes fits beside the others now.
    func hasRoom(for cost: Int) -> Bool { totalCost <= costLimit - cost && count < countLimit }

    /// Enters a record, and gives its slot.
    mutating func insert(_ record: Record) -> Int {
        let slot = free.popLast() ?? records.count
        if slot == records.count { records.append(record) } else { records[slot] = record }
        totalCost += record.cost
        count += 1
        policy.insert(slot, hash: record.key.high, cost: record.cost)
        return slot
    }

    /// Takes the record of an entry out that goes for another reason than eviction.
    mutating func remove(_ slot: Int) {
        policy.remove(slot)
        forget(slot)
    }

    /// Takes the record of the entry out that the policy lets go.
    mutating func evict(use: (CacheKey) -> EntryUse) -> Record? {
        let records = records
        guard let slot = policy.evict(use: { slot in records[slot].map { use($0.key) } ?? .none }) else { return nil }
        defer { forget(slot) }
        return records[slot]
    }

    private mutating func forget(_ slot: Int) {
        guard let record = records[slot] else { return }
        records[slot] = nil
        free.append(slot)
        totalCost -= record.cost
        count -= 1
    }
}
