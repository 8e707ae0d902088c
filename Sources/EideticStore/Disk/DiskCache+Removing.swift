public import EideticCore

extension DiskCache {
    /// Removes an entry; blocks on file work.
    ///
    /// Gives whether there was one.
    @discardableResult
    public func remove(_ key: String) throws(EideticError) -> Bool {
        guard Self.isKey(key) else { return false }
        let hash = CacheKey(key)
        let hooks = currentHooks
        hooks.willRemove?(key)
        let wasThere = try burst.run { () throws(EideticError) in
            try changePublicly { ledger throws(SystemError) in try ledger.remove(hash) }
        }
        if wasThere { hooks.didRemove?(key) }
        return wasThere
    }

    /// Removes all entries; blocks on file work.
    ///
    /// Files that are not the cache's own stay.
    public func removeAll() throws(EideticError) {
        try burst.run { () throws(EideticError) in
            try changePublicly { ledger throws(SystemError) in try ledger.removeAll() }
        }
        currentHooks.didRemoveAll?()
    }

    /// Removes all entries that are too old to be served; blocks on file work.
    ///
    /// Gives how many went.
    @discardableResult
    public func removeExpired() throws(EideticError) -> Int { try removeExpired(WorkContext()) }

    /// Evicts what is worth least until the entries take at most `size` on the device; blocks on file work.
    ///
    /// Derived entries go first, what the user put in goes last. Gives how many went.
    @discardableResult
    public func trim(to size: ByteCount) throws(EideticError) -> Int { try trim(to: size, WorkContext()) }

    /// Removes what is too old, step by step; stops between two steps when it is cancelled.
    func removeExpired(_ context: WorkContext) throws(EideticError) -> Int {
        try burst.run(optional: context) { () throws(EideticError) in
            let now = UInt32(clamping: time.now.seconds)
            let keys = try changePublicly { $0.index.keys { $0.expires <= now } }
            var count = 0
            for start in stride(from: 0, to: keys.count, by: Self.step) where !context.isCancelled {
                let step = keys[start..<min(keys.count, start + Self.step)]
                announce { ledger throws(SystemError) in try ledger.expired(step, now) }
                count += try changePublicly { ledger throws(SystemError) in try ledger.removeExpired(step, now) }
            }
            return count
        }
    }

    /// Evicts step by step; stops between two steps when it is cancelled.
    func trim(to size: ByteCount, _ context: WorkContext) throws(EideticError) -> Int {
        try burst.run(optional: context) { () throws(EideticError) in
            var count = 0
            announce { $0.victims(downTo: size.bytes, derivedFirst: true) }
            while !context.isCancelled {
                let step = try changePublicly { ledger throws(SystemError) in
                    try ledger.evictStep(to: size.bytes, most: Self.step)
                }
                count += step
                if step < Self.step { break }
            }
            return count
        }
    }

    /// Entries that are removed before others get their turn.
    private static let step = 64

    /// Removes what is too old, on a thread of the cache (C11).
    func startSweep() {
        let context = WorkContext(priority: .low)
        guard (try? burst.enter(optional: context)) != nil else { return }
        pool.enqueue(context) { [burst, weak self] in
            defer { burst.leave(optional: context) }
            do throws(EideticError) {
                guard let self else { return }
                let count = try self.removeExpired(context)
                Log.write(.info, .store, "sweep: \(count) expired entries removed")
            } catch {
                Log.write(.warning, .store, "sweep: \(error)")
            }
        }
    }
}

extension Ledger {
    /// Removes those of `keys` that are still there and too old; gives how many.
    fileprivate func removeExpired(_ keys: ArraySlice<CacheKey>, _ now: UInt32) throws(SystemError) -> Int {
        // Looking at the files may fail: nothing leaves the index before all were looked at.
        let entries = try expired(keys, now).compactMap { index.remove($0.key) }
        if !entries.isEmpty { try removeFiles(entries, .remove, isDeparture: true) }
        return entries.count
    }

    /// Those of `keys` that are still there and too old, and were not used since.
    fileprivate func expired(_ keys: ArraySlice<CacheKey>, _ now: UInt32) throws(SystemError) -> [IndexEntry] {
        var entries: [IndexEntry] = []
        for key in keys {
            guard let entry = index.entry(key), entry.expires <= now, try !wasUsed(key, now) else { continue }
            entries.append(entry)
        }
        return entries
    }

    /// Evicts at most `most` entries as long as more than `size` bytes are taken; gives how many.
    fileprivate func evictStep(to size: Int, most: Int) throws(SystemError) -> Int {
        let count = index.count
        try evict(derivedFirst: true) { self.index.allocated > size && count - self.index.count < most }
        return count - index.count
    }
}
