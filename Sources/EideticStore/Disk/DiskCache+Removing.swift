public import EideticCore

extension DiskCache {
    /// Removes an entry; blocks on file work.
    ///
    /// Gives whether there was one.
    @discardableResult
    public func remove(_ key: String) throws(EideticError) -> Bool {
        guard Self.isValidKey(key) else { return false }
        let hash = CacheKey(key)
        let hooks = currentHooks
        hooks.willRemove?(key)
        let existed = try workGroup.run { () throws(EideticError) in
            try inWriteTransaction { ledger throws(SystemError) in try ledger.remove(hash) }
        }
        if existed { hooks.didRemove?(key) }
        return existed
    }

    /// Removes all entries; blocks on file work.
    ///
    /// Files that are not the cache's own stay.
    public func removeAll() throws(EideticError) {
        try workGroup.run { () throws(EideticError) in
            try inWriteTransaction { ledger throws(SystemError) in try ledger.removeAll() }
        }
        currentHooks.didRemoveAll?()
    }

    /// Removes all entries that are too old to be served; blocks on file work.
    ///
    /// Gives how many went.
    @discardableResult
    public func removeExpired() throws(EideticError) -> Int { try removeExpired(context: JobContext()) }

    /// Evicts what is worth least until the entries take at most `size` on the device; blocks on file work.
    ///
    /// Derived entries go first, what the user put in goes last. Gives how many went.
    @discardableResult
    public func trim(toSize size: ByteCount) throws(EideticError) -> Int {
        try trim(toSize: size, context: JobContext())
    }

    /// Removes what is too old, step by step; stops between two steps when it is cancelled.
    func removeExpired(context: JobContext) throws(EideticError) -> Int {
        try workGroup.run(cancellable: context) { () throws(EideticError) in
            let now = UInt32(clamping: time.now.seconds)
            let keys = try inWriteTransaction { $0.index.keys { $0.expirationSeconds <= now } }
            var count = 0
            for start in stride(from: 0, to: keys.count, by: Self.batchSize) where !context.isCancelled {
                let batch = keys[start..<min(keys.count, start + Self.batchSize)]
                notifyWillEvict { ledger throws(SystemError) in try ledger.expiredEntries(among: batch, at: now) }
                count += try inWriteTransaction { ledger throws(SystemError) in try ledger.removeExpired(batch, at: now)
                }
            }
            return count
        }
    }

    /// Evicts step by step; stops between two steps when it is cancelled.
    func trim(toSize size: ByteCount, context: JobContext) throws(EideticError) -> Int {
        try workGroup.run(cancellable: context) { () throws(EideticError) in
            var count = 0
            notifyWillEvict { $0.victims(downTo: size.bytes, derivedFirst: true) }
            while !context.isCancelled {
                let evictedCount = try inWriteTransaction { ledger throws(SystemError) in
                    try ledger.evictBatch(downTo: size.bytes, maximum: Self.batchSize)
                }
                count += evictedCount
                if evictedCount < Self.batchSize { break }
            }
            return count
        }
    }

    /// Entries that are removed before others get their turn.
    private static let batchSize = 64

    /// Removes what is too old, on a thread of the cache (C11).
    func scheduleRemovalOfExpired() {
        let context = JobContext(priority: .low)
        guard (try? workGroup.enter(cancellable: context)) != nil else { return }
        pool.enqueue(in: context) { [workGroup, weak self] in
            defer { workGroup.leave(cancellable: context) }
            do throws(EideticError) {
                guard let self else { return }
                let count = try self.removeExpired(context: context)
                Log.write(.info, category: .store, message: "sweep: \(count) expired entries removed")
            } catch {
                Log.write(.warning, category: .store, message: "sweep: \(error)")
            }
        }
    }
}

extension Ledger {
    /// Removes those of `keys` that are still there and too old; gives how many.
    fileprivate func removeExpired(_ keys: ArraySlice<CacheKey>, at now: UInt32) throws(SystemError) -> Int {
        // Looking at the files may fail: nothing leaves the index before all were looked at.
        let entries = try expiredEntries(among: keys, at: now).compactMap { index.remove($0.key) }
        if !entries.isEmpty { try removeFiles(of: entries, event: .remove, isEviction: true) }
        return entries.count
    }

    /// Those of `keys` that are still there and too old, and were not used since.
    fileprivate func expiredEntries(among keys: ArraySlice<CacheKey>, at now: UInt32) throws(SystemError)
        -> [IndexEntry]
    {
        var entries: [IndexEntry] = []
        for key in keys {
            guard let entry = index.entry(for: key), entry.expirationSeconds <= now, try !renewIfAccessed(key, at: now)
            else { continue }
            entries.append(entry)
        }
        return entries
    }

    /// Evicts at most `most` entries as long as more than `size` bytes are taken; gives how many.
    fileprivate func evictBatch(downTo size: Int, maximum: Int) throws(SystemError) -> Int {
        let count = index.count
        try evict(derivedFirst: true) { self.index.allocatedSize > size && count - self.index.count < maximum }
        return count - index.count
    }
}
