public import EideticCore

extension MemoryCache {
    /// Tracks what was named for eviction, before it leaves the table: so it can be found at every moment.
    ///
    /// What the caller removed, replaced, or what has expired must not be found again, and is not tracked.
    @usableFromInline
    func trackEvicted(_ gone: inout Departures<Value>) {
        for departure in gone.all where departure.reason.isEviction {
            guard let value = table.pointee.entry(of: departure.slot).pointee.value else { continue }
            track(value, departure.record, &gone)
        }
    }

    /// Tracks a value that the cache does not hold.
    @usableFromInline
    func track(_ value: Value, _ record: MemoryLedger.Record, _ gone: inout Departures<Value>) {
        if let inUse { gone.hold(inUse.insert(value, record)) }
    }

    /// Looks once more for what was not in the table when nothing was tracked: in between somebody else may have found it
    /// among what is in use, and put it back.
    @usableFromInline
    func lookAgain(_ key: CacheKey, _ inUse: InUseMap<Value>) -> Value? {
        let returned = inUse.returned
        let value = stripes.mine.pointee.withLock { _ in table.pointee.find(key)?.pointee.value }
        if value == nil, inUse.isEmpty, inUse.returned == returned { return nil }
        return revive(key)
    }

    /// Finds a value again that was let go while somebody else holds it, and holds it again.
    @usableFromInline
    func revive(_ key: CacheKey) -> Value? {
        let now = time.now
        var gone = Departures<Value>()
        let value = ledger.withLock { ledger -> Value? in
            if let value = table.pointee.find(key)?.pointee.value {
                ledger.statistics.lateHits += 1
                return value
            }
            guard let entry = inUse?.entry(of: key) else { return nil }
            guard let value = entry.find() else {
                inUse?.remove(key)
                return nil
            }
            // This may be the last reference by now, so whatever happens it ends after the lock.
            gone.hold([value])
            guard entry.record.expires.map({ $0 > now }) ?? true else {
                inUse?.remove(key)
                return nil
            }
            ledger.statistics.revivals += 1
            ledger.statistics.lateHits += 1
            if ledger.accepts(entry.record.cost) {
                // In the table before it is tracked no more: it is found at every moment.
                _ = place(value, entry.record, in: &ledger, into: &gone)
                inUse?.giveBack(key)
            }
            return value
        }
        finish(gone)
        return value
    }

    /// Gives a value back that was found and can expire, unless it has.
    @usableFromInline
    func unexpired(_ value: Value?, for key: CacheKey) -> Value? {
        let now = time.now
        var gone = Departures<Value>()
        let isExpired = ledger.withLock { ledger in
            guard let slot = table.pointee.find(key)?.pointee.slot,
                let expires = ledger.records[Int(slot)].expires, expires <= now
            else { return false }
            take(key, .expired, from: &ledger, into: &gone)
            collect(&gone)
            ledger.statistics.lateHits -= 1
            return true
        }
        finish(gone)
        return isExpired ? nil : value
    }
}
