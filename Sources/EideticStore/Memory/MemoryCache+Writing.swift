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
        let now = timeToLive == nil ? storingTime : time.now
        let record = MemoryLedger.Record(
            key,
            cost: max(0, cost.bytes),
            stored: now,
            expires: timeToLive.map { now + $0 }
        )
        var gone = Departures<Value>()
        let isKept = ledger.withLock { ledger in
            take(key, .replaced, from: &ledger, into: &gone)
            return place(value, record, in: &ledger, into: &gone)
        }
        finish(gone)
        if isKept { hooks.didInsert?(key, value, cost) }
    }

    /// Lets the value of `key` go; no effect where there is none.
    @inlinable
    public func remove(_ key: CacheKey) {
        if let willRemove = hooks.willRemove, let value = peek(key) { willRemove(key, value, .removed) }
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            take(key, .removed, from: &ledger, into: &gone)
            collect(&gone)
        }
        finish(gone)
    }

    /// Puts a value in whose key is free, after room was made for it; gives whether it was taken.
    @inlinable
    func place(
        _ value: Value,
        _ record: MemoryLedger.Record,
        in ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) -> Bool {
        guard ledger.accepts(record.cost) else {
            ledger.statistics.refusals += 1
            collect(&gone)
            if inUse != nil { track(value, record, &gone) }
            return false
        }
        while !ledger.hasRoom(for: record.cost) {
            let reason: MemoryRemovalReason = ledger.count >= ledger.countLimit ? .countLimit : .costLimit
            guard evict(reason, from: &ledger, into: &gone) else { break }
        }
        let slot = ledger.insert(record)
        publishClock(of: ledger)
        ledger.statistics.insertions += 1
        if inUse != nil { trackEvicted(&gone) }
        stripes.withAll {
            gone.collect(from: table)
            table.pointee.insert(record.key, value, slot: slot, canExpire: record.expires != nil)
        }
        return true
    }

    /// Takes what was named out of the table.
    @inlinable
    func collect(_ gone: inout Departures<Value>) {
        guard gone.first != nil else { return }
        if inUse != nil { trackEvicted(&gone) }
        stripes.withAll { gone.collect(from: table) }
    }

    /// Tells the hooks of what went, and releases it; with no lock held.
    @inlinable
    func finish(_ gone: consuming Departures<Value>) {
        guard hooks.willRemove != nil || hooks.didRemove != nil else { return }
        gone.forEach { departure, value in
            if departure.reason != .removed { hooks.willRemove?(departure.record.key, value, departure.reason) }
            hooks.didRemove?(departure.record.key, value, departure.reason)
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
        _ reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) -> Bool {
        guard let (slot, record) = ledger.evict(use: { table.pointee.entry(of: $0).pointee.takeUse() }) else {
            return false
        }
        ledger.statistics.count(reason)
        gone.append(.init(slot, record, reason))
        return true
    }

    /// Names the entry of `key`, if there is one; what is tracked for the key is forgotten.
    @inlinable
    func take(
        _ key: CacheKey,
        _ reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) {
        inUse?.remove(key)
        guard let slot = table.pointee.find(key).map({ Int($0.pointee.slot) }) else { return }
        gone.append(.init(slot, ledger.remove(slot), reason))
        ledger.statistics.count(reason)
    }

    /// The value of `key`, without a trace of the look-up.
    @inlinable
    package func peek(_ key: CacheKey) -> Value? {
        ledger.withLock { _ in table.pointee.find(key)?.pointee.value }
    }
}
