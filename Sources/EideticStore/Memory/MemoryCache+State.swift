public import EideticCore

extension MemoryCache {
    /// The most bytes that all values may cost together; a lower limit takes effect at once.
    public var costLimit: ByteCount {
        get { ledger.withLock { ByteCount($0.costLimit) } }
        set {
            let bytes = max(0, newValue.bytes)
            ledger.withLock { ledger in
                ledger.costLimit = bytes
                ledger.policy.setCapacity(bytes)
            }
            reduce(toCost: bytes, count: .max, .costLimit)
        }
    }

    /// The most values; a lower limit takes effect at once.
    public var countLimit: Int {
        get { ledger.withLock { $0.countLimit } }
        set {
            ledger.withLock { $0.countLimit = max(0, newValue) }
            reduce(toCost: .max, count: max(0, newValue), .countLimit)
        }
    }

    /// What all values cost together; never more than ``costLimit``.
    public var totalCost: ByteCount { ledger.withLock { ByteCount($0.totalCost) } }

    /// The number of values; never more than ``countLimit``.
    public var count: Int { ledger.withLock { $0.count } }

    /// What the cache has done so far.
    public var statistics: MemoryStatistics {
        var statistics = ledger.withLock { $0.statistics }
        let lookUps = stripes.total
        statistics.hits = lookUps.hits - statistics.expiredHits
        statistics.misses = lookUps.misses + statistics.expiredHits
        return statistics
    }
}
