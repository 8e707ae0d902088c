public import EideticCore

extension MemoryCache {
    /// Tracks what was named for eviction, before it leaves the table: so it can be found at every moment.
    ///
    /// What the caller removed, replaced, or what has expired must not be found again, and is not tracked.
    @usableFromInline
    func trackEvicted(_ evicted: inout EvictedEntries<Value>) {
        for entry in evicted.all where entry.reason.isEviction {
            guard let value = table.pointee.entry(inSlot: entry.slot).pointee.value else { continue }
            track(value, record: entry.record, evicted: &evicted)
        }
    }

    /// Tracks a value that the cache does not hold.
    @usableFromInline
    func track(_ value: Value, record: MemoryLedger.Record, evicted gone: inout EvictedEntries<Value>) {
        if let liveValues { gone.deferRelease(of: liveValues.insert(value, record: record)) }
    }

    /// Looks once more for what was not in the table when nothing was tracked: in between somebody else may have found it
    /// among what is in use, and put it back.
    @usableFromInline
    func retryLookup(_ key: CacheKey, in liveValues: LiveValueMap<Value>) -> Value? {
        let revivalCount = liveValues.revivalCount
        let value = stripes.current.pointee.withLock { _ in table.pointee.entry(for: key)?.pointee.value }
        if value == nil, liveValues.isEmpty, liveValues.revivalCount == revivalCount { return nil }
        return revive(key)
    }

    /// Finds a value again that was let go while somebody else holds it, and holds it again.
    @usableFromInline
    func revive(_ key: CacheKey) -> Value? {
        let now = time.now
        var evicted = EvictedEntries<Value>()
        let value = ledger.withLock { ledger -> Value? in
            if let value = table.pointee.entry(for: key)?.pointee.value {
                ledger.statistics.hitCorrection += 1
                return value
            }
            guard let entry = liveValues?.entry(for: key) else { return nil }
            guard let value = entry.find() else {
                liveValues?.remove(key)
                return nil
            }
            // This may be the last reference by now, so whatever happens it ends after the lock.
            evicted.deferRelease(of: [value])
            guard entry.record.expires.map({ $0 > now }) ?? true else {
                liveValues?.remove(key)
                return nil
            }
            ledger.statistics.revivals += 1
            ledger.statistics.hitCorrection += 1
            if ledger.accepts(cost: entry.record.cost) {
                // In the table before it is tracked no more: it is found at every moment.
                _ = store(value, record: entry.record, in: &ledger, into: &evicted)
                liveValues?.markRevived(key)
            }
            return value
        }
        finishRemoval(of: evicted)
        return value
    }

    /// Gives a value back that was found and can expire, unless it has.
    @usableFromInline
    func unexpired(_ value: Value?, for key: CacheKey) -> Value? {
        let now = time.now
        var evicted = EvictedEntries<Value>()
        let isExpired = ledger.withLock { ledger in
            guard let slot = table.pointee.entry(for: key)?.pointee.slot,
                let expires = ledger.records[Int(slot)].expires, expires <= now
            else { return false }
            remove(key, reason: .expired, from: &ledger, into: &evicted)
            removeFromTable(&evicted)
            ledger.statistics.hitCorrection -= 1
            return true
        }
        finishRemoval(of: evicted)
        return isExpired ? nil : value
    }
}
