public import EideticCore
public import Synchronization

extension MemoryCache {
    /// Keeps `value` for `key`, in place of what was there, and lets others go as far as the limits ask.
    ///
    /// `cost` is the value's bytes; a negative one counts as none. A value that alone costs more than the limit is not
    /// kept; what was there for the key goes all the same. After `timeToLive` the value is not found any more; without
    /// one it does not expire.
    ///
    /// - Complexity: O(1) amortised, and O(1) for each value that has to go.
    @inlinable
    public func insert(_ value: Value, for key: CacheKey, cost: ByteCount, timeToLive: Duration? = nil) {
        let now = time.now
        let expires = timeToLive.map { now + $0 }
        let record = MemoryLedger.Record(key, cost: max(0, cost.bytes), stored: now, expires: expires)
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            take(key, .replaced, from: &ledger, into: &gone)
            guard ledger.accepts(record.cost) else {
                ledger.statistics.refusals += 1
                return collect(&gone)
            }
            makeRoom(for: record.cost, in: &ledger, into: &gone)
            let slot = ledger.insert(record)
            publishClock(of: ledger)
            ledger.statistics.insertions += 1
            stripes.withAll {
                gone.collect(from: table)
                table.pointee.insert(key, value, slot: slot, canExpire: expires != nil)
            }
        }
        withExtendedLifetime(gone) {}
    }

    /// Lets the value of `key` go; no effect where there is none.
    @inlinable
    public func remove(_ key: CacheKey) {
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            take(key, .removed, from: &ledger, into: &gone)
            collect(&gone)
        }
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

    @inlinable
    func reduce(toCost cost: Int, count: Int, _ reason: MemoryRemovalReason) {
        var gone = Departures<Value>()
        ledger.withLock { ledger in
            while ledger.totalCost > cost || ledger.count > count {
                guard evict(reason, from: &ledger, into: &gone) else { break }
            }
            collect(&gone)
        }
        withExtendedLifetime(gone) {}
    }

    @inlinable
    func collect(_ gone: inout Departures<Value>) {
        guard gone.first != nil else { return }
        stripes.withAll { gone.collect(from: table) }
    }

    /// Evicts until an entry of `cost` bytes fits.
    @inlinable
    func makeRoom(for cost: Int, in ledger: inout MemoryLedger, into gone: inout Departures<Value>) {
        while !ledger.hasRoom(for: cost) {
            let reason: MemoryRemovalReason = ledger.count >= ledger.countLimit ? .countLimit : .costLimit
            guard evict(reason, from: &ledger, into: &gone) else { return }
        }
    }

    /// Tells hits the policy's time.
    @inlinable
    func publishClock(of ledger: MemoryLedger) {
        let clock = ledger.clock.bitPattern
        if policyClock.load(ordering: .relaxed) != clock { policyClock.store(clock, ordering: .relaxed) }
    }

    /// Evicts the entry that the policy names.
    @inlinable
    func evict(
        _ reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) -> Bool {
        guard let record = ledger.evict(use: { table.pointee.find($0)?.pointee.takeUse() ?? .none }) else {
            return false
        }
        ledger.statistics.count(reason)
        gone.append(record.key, reason)
        return true
    }

    /// Takes the entry of `key` out, if there is one.
    @inlinable
    func take(
        _ key: CacheKey,
        _ reason: MemoryRemovalReason,
        from ledger: inout MemoryLedger,
        into gone: inout Departures<Value>
    ) {
        guard let slot = table.pointee.find(key)?.pointee.slot else { return }
        ledger.remove(Int(slot))
        ledger.statistics.count(reason)
        gone.append(key, reason)
    }

    /// Gives a value back that was found and can expire, unless it has.
    @usableFromInline
    func unexpired(_ value: Value?, for key: CacheKey) -> Value? {
        let now = time.now
        var gone = Departures<Value>()
        let isExpired = ledger.withLock { ledger in
            guard let slot = table.pointee.find(key)?.pointee.slot,
                let expires = ledger.records[Int(slot)]?.expires, expires <= now
            else { return false }
            take(key, .expired, from: &ledger, into: &gone)
            collect(&gone)
            ledger.statistics.expiredHits += 1
            return true
        }
        withExtendedLifetime(gone) {}
        return isExpired ? nil : value
    }
}
