public import EideticCore

extension MemoryCache {
    /// The largest total cost of all values; a lower limit takes effect at once.
    public var costLimit: ByteCount {
        get { ledger.withLock { ByteCount($0.costLimit) } }
        set {
            let bytes = max(0, newValue.bytes)
            withLedger { ledger, evicted in
                ledger.costLimit = bytes
                shrink(&ledger, toCost: bytes, reason: .costLimit, into: &evicted)
            }
        }
    }

    /// The largest number of values; a lower limit takes effect at once.
    public var countLimit: Int {
        get { ledger.withLock { $0.countLimit } }
        set {
            withLedger { ledger, evicted in
                ledger.countLimit = max(0, newValue)
                shrink(&ledger, toCount: ledger.countLimit, reason: .countLimit, into: &evicted)
            }
        }
    }

    /// The total cost of all values, at most ``costLimit``.
    public var totalCost: ByteCount { ledger.withLock { ByteCount($0.totalCost) } }

    /// The number of values, at most ``countLimit``.
    public var count: Int { ledger.withLock { $0.count } }

    /// The cache's statistics since its creation.
    package var statistics: MemoryStatistics {
        var statistics = ledger.withLock { $0.statistics }
        let lookUps = stripes.total
        statistics.hits = lookUps.hits + statistics.hitCorrection
        statistics.misses = lookUps.misses - statistics.hitCorrection
        return statistics
    }

    /// Returns `true` if there is a value for `key` that has not expired; does not count as a look-up.
    public func contains(_ key: CacheKey) -> Bool {
        let now = time.now
        return ledger.withLock { ledger in
            guard let slot = table.pointee.entry(for: key)?.pointee.slot else { return false }
            return ledger.records[Int(slot)].expirationTime.map { $0 > now } ?? true
        }
    }

    /// Returns the time until a value expires; `nil` if it does not, or there is none.
    package func timeToLive(of key: CacheKey) -> Duration? {
        let now = time.now
        return ledger.withLock { ledger in
            guard let slot = table.pointee.entry(for: key)?.pointee.slot else { return nil }
            return ledger.records[Int(slot)].expirationTime.map { max(.zero, $0 - now) }
        }
    }

    /// A value with its key, cost and times.
    public struct Entry: Sendable {
        /// The value's key.
        public let key: CacheKey
        /// The value.
        public let value: Value
        /// The value's cost.
        public let cost: ByteCount
        /// The time at which the value was inserted.
        public let storageTime: Timestamp
        /// The time at which the value expires; `nil` for never.
        public let expirationTime: Timestamp?
    }

    /// All values at one moment, in no particular order; does not count as a look-up.
    ///
    /// - Complexity: O(*n*). Writers wait meanwhile, look-ups do not.
    public var entries: [Entry] {
        ledger.withLock { ledger in
            ledger.activeRecords.compactMap { record in
                table.pointee.entry(for: record.key)?.pointee.value.map { value in
                    Entry(
                        key: record.key,
                        value: value,
                        cost: ByteCount(record.cost),
                        storageTime: record.storageTime,
                        expirationTime: record.expirationTime
                    )
                }
            }
        }
    }
}
