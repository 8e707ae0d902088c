public import EideticCore

extension MemoryCache {
    /// Returns whether an evicted value is still tracked, because it was in use elsewhere.
    package func isInUse(_ key: CacheKey) -> Bool { liveValues?.entry(for: key) != nil }

    /// Tracks the evicted values before they leave the table, so that each can be found at every moment.
    ///
    /// A value that was removed or replaced by a caller, or has expired, must not be found again and is not tracked.
    @usableFromInline
    func trackEvicted(_ evicted: inout EvictedEntries<Value>) {
        for entry in evicted.all where entry.reason.isEviction {
            guard let value = table.pointee.entry(inSlot: entry.slot).pointee.value else { continue }
            track(value, record: entry.record, evicted: &evicted)
        }
    }

    /// Tracks a value that is not in the table.
    @usableFromInline
    func track(_ value: Value, record: MemoryLedger.Record, evicted: inout EvictedEntries<Value>) {
        if let liveValues { evicted.deferRelease(of: liveValues.insert(value, record: record)) }
    }

    /// Repeats a look-up that found neither a value in the table nor any tracked value.
    ///
    /// Between the two steps another thread may have moved the value from the tracked ones back into the table.
    @usableFromInline
    func retryLookup(_ key: CacheKey, in liveValues: LiveValueMap<Value>) -> Value? {
        let revivalCount = liveValues.revivalCount
        let value = stripes.current.pointee.withLock { _ in table.pointee.entry(for: key)?.pointee.value }
        if value == nil, liveValues.isEmpty, liveValues.revivalCount == revivalCount { return nil }
        return revive(key)
    }

    /// Returns an evicted value that is in use elsewhere, and stores it again.
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
            guard let value = entry.reference() else {
                liveValues?.remove(key)
                return nil
            }
            // This may be the last reference by now, so it is released after the lock.
            evicted.deferRelease(of: [value])
            guard entry.record.expirationTime.map({ $0 > now }) ?? true else {
                liveValues?.remove(key)
                return nil
            }
            ledger.statistics.revivals += 1
            ledger.statistics.hitCorrection += 1
            if ledger.accepts(cost: entry.record.cost) {
                // It enters the table before tracking ends, so that it is found at every moment.
                _ = store(value, record: entry.record, in: &ledger, into: &evicted)
                liveValues?.markRevived(key)
            }
            return value
        }
        finishRemoval(of: evicted)
        return value
    }

    /// Returns `value` unless it has expired; an expired value is removed.
    ///
    /// Long before `expirationTime` this takes no lock: the clock that is read first may be some milliseconds slow.
    @usableFromInline
    func unexpired(_ value: Value?, for key: CacheKey, until expirationTime: Timestamp) -> Value? {
        if insertionTime + .milliseconds(100) < expirationTime { return value }
        let now = time.now
        var evicted = EvictedEntries<Value>()
        let isExpired = ledger.withLock { ledger in
            guard let slot = table.pointee.entry(for: key)?.pointee.slot,
                let expirationTime = ledger.records[Int(slot)].expirationTime, expirationTime <= now
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
