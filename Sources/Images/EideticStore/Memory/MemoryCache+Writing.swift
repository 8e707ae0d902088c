public import EideticCore
public import Synchronization

extension MemoryCache {
    /// Inserts `value` for `key` in place of an earlier value, and evicts others as the limits require.
    ///
    /// A value that alone costs more than the limit is not stored; an earlier value of the key is removed even then.
    ///
    /// - Parameters:
    ///   - value: The value to store.
    ///   - key: The value's key.
    ///   - cost: The value's bytes; a negative cost counts as zero.
    ///   - timeToLive: The time after which the value expires; by default it does not expire.
    /// - Complexity: O(1) amortised, and O(log *n*) for each evicted value.
    @inlinable
    public func insert(_ value: Value, for key: CacheKey, cost: ByteCount, timeToLive: Duration? = nil) {
        hooks.willInsert?(key, value, cost)
        let now = timeToLive == nil ? insertionTime : time.now
        let record = MemoryLedger.Record(
            key: key,
            cost: max(0, cost.bytes),
            storageTime: now,
            expirationTime: timeToLive.map { now + $0 }
        )
        var evicted = EvictedEntries<Value>()
        let isStored = ledger.withLock { ledger in
            remove(key, reason: .replaced, from: &ledger, into: &evicted)
            return store(value, record: record, in: &ledger, into: &evicted)
        }
        finishRemoval(of: evicted)
        if isStored { hooks.didInsert?(key, value, cost) }
    }

    /// Removes the value of `key`; no effect if there is none.
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

    /// Stores a value whose key is free, after evicting others to make room.
    ///
    /// - Returns: `true` if the value was stored; `false` if it alone exceeds the limits.
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
            let expirationTime = record.expirationTime ?? Timestamp(nanoseconds: .max)
            table.pointee.insert(key: record.key, value: value, slot: slot, expirationTime: expirationTime)
        }
        return true
    }

    @inlinable
    func removeFromTable(_ evicted: inout EvictedEntries<Value>) {
        guard evicted.first != nil else { return }
        if liveValues != nil { trackEvicted(&evicted) }
        stripes.withAllLocked { evicted.extractValues(from: table) }
    }

    /// Calls the hooks for the removed entries and releases their values; no lock may be held.
    @inlinable
    func finishRemoval(of evicted: consuming EvictedEntries<Value>) {
        guard hooks.willRemove != nil || hooks.didRemove != nil else { return }
        evicted.forEach { entry, value in
            if entry.reason != .removed { hooks.willRemove?(entry.record.key, value, entry.reason) }
            hooks.didRemove?(entry.record.key, value, entry.reason)
        }
    }

    /// Makes the policy's clock available to look-ups, which store it with each hit.
    @inlinable
    func publishClock(of ledger: MemoryLedger) {
        let clock = ledger.clock.bitPattern
        if policyClock.load(ordering: .relaxed) != clock { policyClock.store(clock, ordering: .relaxed) }
    }

    /// Removes the entry that the policy selects from the ledger, and appends it to `evicted`.
    ///
    /// - Returns: `false` if there is no entry.
    @inlinable
    func evict(
        reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into evicted: inout EvictedEntries<Value>
    ) -> Bool {
        guard let (slot, record) = ledger.evict(usage: { table.pointee.entry(inSlot: $0).pointee.consumeUsage() })
        else { return false }
        ledger.statistics.recordRemoval(reason)
        evicted.append(.init(slot: slot, record: record, reason: reason))
        return true
    }

    /// Removes the entry of `key` from the ledger, if there is one, and appends it to `evicted`.
    ///
    /// A tracked value of the key is not tracked any more.
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

    /// Returns the value of `key` without counting a look-up.
    @inlinable
    package func peek(_ key: CacheKey) -> Value? {
        ledger.withLock { _ in table.pointee.entry(for: key)?.pointee.value }
    }
}
