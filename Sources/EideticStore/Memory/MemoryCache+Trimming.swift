public import EideticCore

extension MemoryCache {
    /// In which order values go when a cache is trimmed.
    public enum TrimOrder: Sendable, Hashable {
        /// As the eviction rule says.
        case evictionRule
        /// Those that cost most first.
        case costliestFirst
    }

    /// Lets all values go, also those that somebody else holds.
    public func removeAll() {
        change { ledger, gone in
            inUse?.removeAll()
            while evict(.removed, from: &ledger, into: &gone) {}
        }
    }

    /// Lets values go until they cost no more than `cost` together; the limits stay as they are.
    ///
    /// - Complexity: O(log *n*) for each that goes; O(*n* log *n*) with the costliest first.
    public func trim(toCost cost: ByteCount, order: TrimOrder = .evictionRule) {
        change { ledger, gone in
            if order == .costliestFirst {
                for record in ledger.all.sorted(by: { $0.cost > $1.cost }) where ledger.totalCost > max(0, cost.bytes) {
                    take(record.key, .trimmed, from: &ledger, into: &gone)
                }
            }
            shrink(&ledger, toCost: max(0, cost.bytes), .trimmed, &gone)
        }
    }

    /// Lets all values go that were put in before a moment.
    ///
    /// - Complexity: O(*n*) in the number of all values.
    public func trim(to date: Timestamp) { removeWhere(.trimmed) { $0.stored < date } }

    /// Lets all values go whose time to live is over; they are not found before either.
    ///
    /// - Complexity: O(*n*) in the number of all values.
    public func removeExpired() {
        let now = time.now
        removeWhere(.expired) { record in record.expires.map { $0 <= now } ?? false }
    }

    /// Lets go what the pressure on memory asks for: the level's part of what is there now stays.
    ///
    /// What somebody else holds is found again, where the cache tracks what is in use.
    public func respond(to pressure: MemoryPressure) { shrink(toFraction: pressure.keptFraction) }

    /// Lets go all but a part of what is there now, 0 to 1; with 0 also what costs nothing.
    public func shrink(toFraction fraction: Double) {
        change { ledger, gone in
            let part = min(1, max(0, fraction))
            shrink(&ledger, toCost: Int(Double(ledger.totalCost) * part), .pressure, &gone)
            if part == 0 { shrink(&ledger, toCount: 0, .pressure, &gone) }
        }
    }

    /// Makes a change with the ledger locked, and tells the hooks after it.
    func change(_ body: (inout MemoryLedger, inout Departures<Value>) -> Void) {
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            body(&ledger, &gone)
            collect(&gone)
        }
        finish(gone)
    }

    func shrink(
        _ ledger: inout MemoryLedger,
        toCost cost: Int = .max,
        toCount count: Int = .max,
        _ reason: MemoryRemovalReason,
        _ gone: inout Departures<Value>
    ) {
        while ledger.totalCost > cost || ledger.count > count {
            guard evict(reason, from: &ledger, into: &gone) else { return }
        }
    }

    private func removeWhere(_ reason: MemoryRemovalReason, _ condition: (MemoryLedger.Record) -> Bool) {
        change { ledger, gone in
            for record in ledger.all where condition(record) { take(record.key, reason, from: &ledger, into: &gone) }
        }
    }
}
