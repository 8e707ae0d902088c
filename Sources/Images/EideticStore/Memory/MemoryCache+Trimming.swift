public import EideticCore

extension MemoryCache {
    /// The order in which values are evicted when a cache is trimmed.
    public enum EvictionOrder: Sendable, Hashable {
        /// The order of the cache's eviction rule.
        case evictionRule
        /// The values with the highest cost first.
        case costliestFirst
    }

    /// Removes all values, and stops tracking those in use elsewhere.
    public func removeAll() {
        withLedger { ledger, evicted in
            liveValues?.removeAll()
            while evict(reason: .removed, from: &ledger, into: &evicted) {}
        }
    }

    /// Evicts values until their total cost is at most `cost`; the limits stay as they are.
    ///
    /// - Complexity: O(log *n*) for each evicted value; O(*n* log *n*) with the costliest first.
    public func trim(toCost cost: ByteCount, order: EvictionOrder = .evictionRule) {
        withLedger { ledger, evicted in
            if order == .costliestFirst {
                for record in ledger.activeRecords.sorted(by: { $0.cost > $1.cost })
                where ledger.totalCost > max(0, cost.bytes) {
                    remove(record.key, reason: .trimmed, from: &ledger, into: &evicted)
                }
            }
            shrink(&ledger, toCost: max(0, cost.bytes), reason: .trimmed, into: &evicted)
        }
    }

    /// Removes every value that was inserted before `date`.
    ///
    /// - Complexity: O(*n*) in the number of all values.
    public func removeEntries(storedBefore date: Timestamp) { removeAll(reason: .trimmed) { $0.storageTime < date } }

    /// Removes all expired values; they are not found before either.
    ///
    /// - Complexity: O(*n*) in the number of all values.
    public func removeExpired() {
        let now = time.now
        removeAll(reason: .expired) { record in record.expirationTime.map { $0 <= now } ?? false }
    }

    /// Evicts values until only the fraction is left that the level of memory pressure allows.
    ///
    /// An evicted value in use elsewhere is still found, if the cache tracks such values.
    package func respond(to pressure: MemoryPressure) {
        shrink(toFraction: pressure.retainedFraction)
        PixelMemory.releaseUnused()
    }

    /// Evicts values until a fraction of their current total cost is left.
    ///
    /// - Parameter fraction: The fraction to keep, 0 to 1; 0 also evicts values that cost nothing.
    package func shrink(toFraction fraction: Double) {
        withLedger { ledger, evicted in
            let part = min(1, max(0, fraction))
            shrink(&ledger, toCost: Int(Double(ledger.totalCost) * part), reason: .pressure, into: &evicted)
            if part == 0 { shrink(&ledger, toCount: 0, reason: .pressure, into: &evicted) }
        }
    }

    /// Runs `body` with the ledger locked, then calls the hooks for the removed values.
    func withLedger(_ body: (inout MemoryLedger, inout EvictedEntries<Value>) -> Void) {
        var evicted = EvictedEntries<Value>()
        ledger.withLock { ledger in
            body(&ledger, &evicted)
            removeFromTable(&evicted)
        }
        finishRemoval(of: evicted)
    }

    /// Evicts values until the total cost and the number are within the given limits.
    func shrink(
        _ ledger: inout MemoryLedger,
        toCost cost: Int = .max,
        toCount count: Int = .max,
        reason: MemoryRemovalReason,
        into evicted: inout EvictedEntries<Value>
    ) {
        while ledger.totalCost > cost || ledger.count > count {
            guard evict(reason: reason, from: &ledger, into: &evicted) else { return }
        }
    }

    private func removeAll(reason: MemoryRemovalReason, where condition: (MemoryLedger.Record) -> Bool) {
        withLedger { ledger, evicted in
            for record in ledger.activeRecords where condition(record) {
                remove(record.key, reason: reason, from: &ledger, into: &evicted)
            }
        }
    }
}
