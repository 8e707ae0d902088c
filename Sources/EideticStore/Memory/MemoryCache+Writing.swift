public import EideticCore
public import Synchronization

extension MemoryCache {
    /// Keeps `value` for `key`, in place of what was there, and lets others go as far as the limits ask.
    ///
    /// `cost` is the value's bytes; a negative one counts as none. A value that alone costs more than the limit is not
    /// kept; what was there for the key goes all the same. After `timeToLive` the value is not found any more; without
    /// one it does not expire.
    ///
    /// - Complexity: O(1) amortised, and O(log *n*) for each value that has to go.
    @inlinable
    public func insert(_ value: Value, for key: CacheKey, cost: ByteCount, timeToLive: Duration? = nil) {
        hooks.willInsert?(key, value, cost)
        let now = timeToLive == nil ? insertionTime : time.now
        let record = MemoryLedger.Record(
            key: key,
            cost: max(0, cost.bytes),
            stored: now,
            expires: timeToLive.map { now + $0 }
        )
        var evicted = EvictedEntries<Value>()
        let isStored = ledger.withLock { ledger in
            remove(key, reason: .replaced, from: &ledger, into: &evicted)
            return store(value, record: record, in: &ledger, into: &evicted)
        }
        finishRemoval(of: evicted)
        if isStored { hooks.didInsert?(key, value, cost) }
    }

    /// Lets the value of `key` go; no effect where there is none.
    @inlinable
    public func remove(_ key: CacheKey) {
        if let willRemove = hooks.willRemove, let value = peek(key) { willRemove(key, value, .removed) }
        var evicted = EvictedEntries<Value>()
        ledger.withLock { ledger in
            remove(key, reason: .removed, from: &ledger, into: &evicted)
            removeFromTable(&evicted)
        }
        finishRemoval(of: evicted)
    }

    /// Puts a value in whose key is free, after room was made for it; gives whether it was taken.
    @inlinable
    func store(
        _ value: Value,
        record: MemoryLedger.Record,
        in ledger: inout MemoryLedger,
        into evicted: inout EvictedEntries<Value>
    ) -> Bool {
        guard ledger.accepts(cost: record.cost) else {
            ledger.statistics.rejections += 1
            removeFromTable(&evicted)
            if liveValues != nil { track(value, record: record, evicted: &evicted) }
            return false
        }
        while !ledger.hasRoom(forCost: record.cost) {
            let reason: MemoryRemovalReason = ledger.count >= ledger.countLimit ? .countLimit : .costLimit
            guard evict(reason: reason, from: &ledger, into: &evicted) else { break }
        }
        let slot = ledger.insert(record)
        publishClock(of: ledger)
        ledger.statistics.insertions += 1
        if liveValues != nil { trackEvicted(&evicted) }
        stripes.withAllLocked {
            evicted.extractValues(from: table)
            table.pointee.insert(key: record.key, value: value, slot: slot, canExpire: record.expires != nil)
        }
        return true
    }

    /// Takes what was named out of the table.
    @inlinable
    func removeFromTable(_ evicted: inout EvictedEntries<Value>) {
        guard evicted.first != nil else { return }
        if liveValues != nil { trackEvicted(&evicted) }
        stripes.withAllLocked { evicted.extractValues(from: table) }
    }

    /// Tells the hooks of what went, and releases it; with no lock held.
    @inlinable
    func finishRemoval(of evicted: consuming EvictedEntries<Value>) {
        guard hooks.willRemove != nil || hooks.didRemove != nil else { return }
        evicted.forEach { entry, value in
            if entry.reason != .removed { hooks.willRemove?(entry.record.key, value, entry.reason) }
            hooks.didRemove?(entry.record.key, value, entry.reason)
        }
    }

    /// Tells hits the policy's time.
    @inlinable
    func publishClock(of ledger: MemoryLedger) {
        let clock = ledger.clock.bitPattern
        if policyClock.load(ordering: .relaxed) != clock { policyClock.store(clock, ordering: .relaxed) }
    }

    /// Names the entry that the policy lets go.
    @inlinable
    func evict(
        reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into evicted: inout EvictedEntries<Value>
    ) -> Bool {
        guard let (slot, record) = ledger.evict(usage: { table.pointee.entry(inSlot: $0).pointee.consumeUsage() })
        else {
            return false
        }
        ledger.statistics.recordRemoval(reason)
        evicted.append(.init(slot: slot, record: record, reason: reason))
        return true
    }

    /// Names the entry of `key`, if there is one; what is tracked for the key is forgotten.
    @inlinable
    func remove(
        _ key: CacheKey,
        reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into evicted: inout EvictedEntries<Value>
    ) {
        liveValues?.remove(key)
        guard let slot = table.pointee.entry(for: key).map({ Int($0.pointee.slot) }) else { return }
        evicted.append(.init(slot: slot, record: ledger.remove(slot), reason: reason))
        ledger.statistics.recordRemoval(reason)
    }

    /// The value of `key`, without a trace of the look-up.
    @inlinable
    package func peek(_ key: CacheKey) -> Value? {
        ledger.withLock { _ in table.pointee.entry(for: key)?.pointee.value }
    }
}
