public import EideticCore

extension MemoryCache {
    /// The most bytes that all values may cost together; a lower limit takes effect at once.
    public var costLimit: ByteCount {
        get { ledger.withLock { ByteCount($0.costLimit) } }
        set {
            let bytes = max(0, newValue.bytes)
            withLedger { ledger, evicted in
                ledger.costLimit = bytes
                ledger.policy.setCapacity(bytes)
                shrink(&ledger, toCost: bytes, .costLimit, &evicted)
            }
        }
    }

    /// The most values; a lower limit takes effect at once.
    public var countLimit: Int {
        get { ledger.withLock { $0.countLimit } }
        set {
            withLedger { ledger, evicted in
                ledger.countLimit = max(0, newValue)
                shrink(&ledger, toCount: ledger.countLimit, .countLimit, &evicted)
            }
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
        statistics.hits = lookUps.hits + statistics.hitCorrection
        statistics.misses = lookUps.misses - statistics.hitCorrection
        return statistics
    }

    /// Whether there is a value for `key` that has not expired; counts as no look-up.
    public func contains(_ key: CacheKey) -> Bool {
        let now = time.now
        return ledger.withLock { ledger in
            guard let slot = table.pointee.entry(for: key)?.pointee.slot else { return false }
            return ledger.records[Int(slot)].expires.map { $0 > now } ?? true
        }
    }

    /// A value, and what the cache knows of it.
    public struct Entry: Sendable {
        /// Its key.
        public let key: CacheKey
        /// The value.
        public let value: Value
        /// Its cost.
        public let cost: ByteCount
        /// When it was put in.
        public let stored: Timestamp
        /// When it is not found any more; `nil` for never.
        public let expires: Timestamp?
    }

    /// All values as they are at one moment, in no order; counts as no look-up.
    ///
    /// - Complexity: O(*n*); writers wait meanwhile, look-ups do not.
    public var entries: [Entry] {
        ledger.withLock { ledger in
            ledger.activeRecords.compactMap { record in
                table.pointee.entry(for: record.key)?.pointee.value.map { value in
                    Entry(
                        key: record.key,
                        value: value,
                        cost: ByteCount(record.cost),
                        stored: record.stored,
                        expires: record.expires
                    )
                }
            }
        }
    }
}
