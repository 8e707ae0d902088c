public import EideticCore

extension MemoryCache {
    /// In which order values go when a cache is trimmed.
    public enum EvictionOrder: Sendable, Hashable {
        /// As the eviction rule says.
        case evictionRule
        /// Those that cost most first.
        case costliestFirst
    }

    /// Lets all values go, also those that somebody else holds.
    public func removeAll() {
        withLedger { ledger, evicted in
            liveValues?.removeAll()
            while evict(reason: .removed, from: &ledger, into: &evicted) {}
        }
    }

    /// Lets values go until they cost no more than `cost` together; the limits stay as they are.
    ///
    /// - Complexity: O(log *n*) for each that goes; O(*n* log *n*) with the costliest first.
    public func trim(toCost cost: ByteCount, order: EvictionOrder = .evictionRule) {
        withLedger { ledger, evicted in
            if order == .costliestFirst {
                for record in ledger.activeRecords.sorted(by: { $0.cost > $1.cost })
                where ledger.totalCost > max(0, cost.bytes) {
                    remove(record.key, reason: .trimmed, from: &ledger, into: &evicted)
                }
            }
            shrink(&ledger, toCost: max(0, cost.bytes), .trimmed, &evicted)
        }
    }

    /// Lets all values go that were put in before a moment.
    ///
    /// - Complexity: O(*n*) in the number of all values.
    public func removeEntries(storedBefore date: Timestamp) { removeAll(reason: .trimmed) { $0.stored < date } }

    /// Lets all values go whose time to live is over; they are not found before either.
    ///
    /// - Complexity: O(*n*) in the number of all values.
    public func removeExpired() {
        let now = time.now
        removeAll(reason: .expired) { record in record.expires.map { $0 <= now } ?? false }
    }

    /// Lets go what the pressure on memory asks for: the level's part of what is there now stays.
    ///
    /// What somebody else holds is found again, where the cache tracks what is in use.
    public func respond(to pressure: MemoryPressure) { shrink(toFraction: pressure.retainedFraction) }

    /// Lets go all but a part of what is there now, 0 to 1; with 0 also what costs nothing.
    public func shrink(toFraction fraction: Double) {
        withLedger { ledger, evicted in
            let part = min(1, max(0, fraction))
            shrink(&ledger, toCost: Int(Double(ledger.totalCost) * part), .pressure, &evicted)
            if part == 0 { shrink(&ledger, toCount: 0, .pressure, &evicted) }
        }
    }

    /// Makes a change with the ledger locked, and tells the hooks after it.
    func withLedger(_ body: (inout MemoryLedger, inout EvictedEntries<Value>) -> Void) {
        var evicted = EvictedEntries<Value>()
        ledger.withLock { ledger in
            body(&ledger, &evicted)
            removeFromTable(&evicted)
        }
        finishRemoval(of: evicted)
    }

    func shrink(
        _ ledger: inout MemoryLedger,
        toCost cost: Int = .max,
        toCount count: Int = .max,
        _ reason: MemoryRemovalReason,
        _ evicted: inout EvictedEntries<Value>
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
