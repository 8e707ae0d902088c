public import EideticCore
internal import Synchronization

/// Values that left the cache, kept until all locks are free again.
struct Departures<Value: Sendable>: Sendable {
    private var values: [(key: CacheKey, value: Value, reason: MemoryRemovalReason)] = []

    mutating func append(_ key: CacheKey, _ value: Value?, _ reason: MemoryRemovalReason) {
        if let value { values.append((key, value, reason)) }
    }
}

extension MemoryCache {
    /// Keeps `value` for `key`, in place of what was there, and lets others go as far as the limits ask.
    ///
    /// `cost` is the value's bytes; a negative one counts as none. A value that alone costs more than the limit is not
    /// kept; what was there for the key goes all the same. After `timeToLive` the value is not found any more; without
    /// one it does not expire.
    ///
    /// - Complexity: O(1) amortised, and O(1) for each value that has to go.
    public func insert(_ value: Value, for key: CacheKey, cost: ByteCount, timeToLive: Duration? = nil) {
        let now = time.now
        let expires = timeToLive.map { now + $0 }
        let record = MemoryLedger.Record(key: key, cost: max(0, cost.bytes), stored: now, expires: expires)
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            take(key, .replaced, from: &ledger, into: &gone)
            guard ledger.accepts(record.cost) else {
                ledger.statistics.refusals += 1
                return
            }
            makeRoom(for: record.cost, in: &ledger, into: &gone)
            let slot = ledger.insert(record)
            publishClock(of: ledger)
            ledger.statistics.insertions += 1
            shard(of: key).pointee.withLock { table in
                table.insert(key, value, slot: slot, canExpire: expires != nil)
            }
        }
        withExtendedLifetime(gone) {}
    }

    /// Lets the value of `key` go; no effect where there is none.
    public func remove(_ key: CacheKey) {
        var gone = Departures<Value>()
        ledger.withLock { take(key, .removed, from: &$0, into: &gone) }
        withExtendedLifetime(gone) {}
    }

    /// Lets all values go.
    public func removeAll() { reduce(toCost: 0, count: 0, .removed) }

    /// Lets values go, as if the limit were lower, until they cost no more than `cost` together.
    public func trim(toCost cost: ByteCount) { reduce(toCost: max(0, cost.bytes), count: .max, .trimmed) }

    /// Lets go what the pressure on memory asks for: the level's part of what is there now stays.
    public func respond(to pressure: MemoryPressure) {
        let kept = Double(totalCost.bytes) * pressure.keptFraction
        let count = pressure == .critical ? 0 : Int.max
        reduce(toCost: Int(kept), count: count, .pressure)
    }

    func reduce(toCost cost: Int, count: Int, _ reason: MemoryRemovalReason) {
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            while ledger.totalCost > cost || ledger.count > count {
                guard evict(reason, from: &ledger, into: &gone) else { return }
            }
        }
        withExtendedLifetime(gone) {}
    }

    /// Evicts until an entry of `cost` bytes fits.
    private func makeRoom(for cost: Int, in ledger: inout MemoryLedger, into gone: inout Departures<Value>) {
        while !ledger.hasRoom(for: cost) {
            let reason: MemoryRemovalReason = ledger.count >= ledger.countLimit ? .countLimit : .costLimit
            guard evict(reason, from: &ledger, into: &gone) else { return }
        }
    }

    /// Tells hits the policy's time.
    private func publishClock(of ledger: MemoryLedger) {
        let clock = ledger.policy.clock.bitPattern
        if policyClock.load(ordering: .relaxed) != clock { policyClock.store(clock, ordering: .relaxed) }
    }

    /// Evicts the entry that the policy names.
    private func evict(
        _ reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) -> Bool {
        guard let record = ledger.evict(use: { self.takeUse(of: $0) }) else { return false }
        ledger.statistics.removals[reason, default: 0] += 1
        gone.append(record.key, shard(of: record.key).pointee.withLock { $0.remove(record.key) }, reason)
        return true
    }

    /// Takes the entry of `key` out, if there is one.
    func take(
        _ key: CacheKey,
        _ reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) {
        let found = shard(of: key).pointee.withLock { table -> (slot: Int, value: Value?)? in
            guard let slot = table.find(key)?.pointee.slot else { return nil }
            return (Int(slot), table.remove(key))
        }
        guard let found else { return }
        ledger.remove(found.slot)
        ledger.statistics.removals[reason, default: 0] += 1
        gone.append(key, found.value, reason)
    }

    private func takeUse(of key: CacheKey) -> EntryUse {
        shard(of: key).pointee.withLock { table in
            guard let entry = table.find(key) else { return .none }
            let use = EntryUse(hits: Int(entry.pointee.hits), clock: entry.pointee.clock)
            entry.pointee.hits = 0
            return use
        }
    }

    /// Gives a value back that was found and can expire, unless it has.
    @usableFromInline
    func unexpired(_ value: Value?, for key: CacheKey) -> Value? {
        let now = time.now
        var gone = Departures<Value>()
        let isExpired = ledger.withLock { ledger in
            let slot = shard(of: key).pointee.withLock { $0.find(key)?.pointee.slot }
            guard let slot, let expires = ledger.records[Int(slot)]?.expires, expires <= now else { return false }
            take(key, .expired, from: &ledger, into: &gone)
            return true
        }
        guard isExpired else { return value }
        shard(of: key).pointee.withLock { table in
            table.hits -= 1
            table.misses += 1
        }
        return nil
    }
}
