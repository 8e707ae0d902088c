public import EideticCore
public import struct FoundationEssentials.URL

extension DiskCache {
    /// Removes an entry.
    ///
    /// - Returns: The former URL of the entry's file; `nil` if there was no entry.
    @discardableResult
    nonisolated(nonsending) public func remove(_ key: String) async throws(EideticError) -> URL? {
        try await perform { () throws(EideticError) in try self.removeEntry(for: key) }
    }

    /// Removes all entries.
    ///
    /// Files that do not belong to the cache are not removed.
    nonisolated(nonsending) public func removeAll() async throws(EideticError) {
        try await perform { () throws(EideticError) in try self.removeAllEntries() }
    }

    /// Removes all expired entries.
    ///
    /// If the task is cancelled, the removal stops early.
    ///
    /// - Returns: The number of removed entries.
    @discardableResult
    nonisolated(nonsending) public func removeExpired() async throws(EideticError) -> Int {
        try await performCancellable { context throws(EideticError) in try self.removeExpired(context: context) }
    }

    /// Evicts the entries of the lowest priority until all use at most `size` on the device.
    ///
    /// Derived entries are evicted first, the user's entries last. If the task is cancelled, the eviction stops early.
    ///
    /// - Returns: The number of evicted entries.
    @discardableResult
    nonisolated(nonsending) public func trim(toSize size: ByteCount) async throws(EideticError) -> Int {
        try await performCancellable { context throws(EideticError) in try self.trim(toSize: size, context: context) }
    }
}

// MARK: Removal in batches
extension DiskCache {
    /// The number of entries that one transaction removes, so that other processes get access in between.
    static let batchSize = 64

    func removeEntry(for key: String) throws(EideticError) -> URL? {
        guard Self.isValidKey(key) else { return nil }
        removeFromTiers(key)
        let key = storedKeyForReading(key)
        let hash = CacheKey(key), part = CacheKey(Self.partKey(of: key))
        let hooks = currentHooks
        hooks.willRemove?(key)
        let existed = try inWriteTransaction { ledger throws(SystemError) in
            if ledger.index.entry(for: part) != nil { _ = try ledger.remove(part) }
            return try ledger.remove(hash)
        }
        guard existed else { return nil }
        hooks.didRemove?(key)
        return URL(filePath: layout.path(of: hash), directoryHint: .notDirectory)
    }

    func removeAllEntries() throws(EideticError) {
        try inWriteTransaction { ledger throws(SystemError) in try ledger.removeAll() }
        emptyTiers()
        currentHooks.didRemoveAll?()
    }

    /// Removes expired entries in batches; stops between two batches when `context` is cancelled.
    func removeExpired(context: JobContext) throws(EideticError) -> Int {
        let now = UInt32(clamping: time.now.seconds)
        let keys = try inWriteTransaction { $0.index.keys { $0.expirationSeconds <= now } }
        var count = 0
        for start in stride(from: 0, to: keys.count, by: Self.batchSize) where !context.isCancelled {
            let batch = keys[start..<min(keys.count, start + Self.batchSize)]
            notifyWillEvict { ledger throws(SystemError) in try ledger.expiredEntries(among: batch, at: now) }
            count += try inWriteTransaction { ledger throws(SystemError) in try ledger.removeExpired(batch, at: now) }
        }
        return count
    }

    /// Evicts in batches; stops between two batches when `context` is cancelled.
    func trim(toSize size: ByteCount, context: JobContext) throws(EideticError) -> Int {
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

    /// Removes expired entries on a thread of the cache.
    func scheduleRemovalOfExpired() {
        schedule { cache, context in
            do throws(EideticError) {
                let count = try cache.removeExpired(context: context)
                Log.write(.info, category: .store, message: "\(count) expired entries removed")
            } catch {
                Log.write(.warning, category: .store, message: "expired entries could not be removed: \(error)")
            }
        }
    }
}

extension Ledger {
    /// Removes those of `keys` whose entries have expired, and returns their number.
    fileprivate func removeExpired(_ keys: ArraySlice<CacheKey>, at now: UInt32) throws(SystemError) -> Int {
        // Access to a file may fail, so nothing is removed from the index before all files were checked.
        let entries = try expiredEntries(among: keys, at: now).compactMap { index.remove($0.key) }
        if !entries.isEmpty { try removeFiles(of: entries, event: .remove, isEviction: true) }
        return entries.count
    }

    /// Returns the entries of `keys` that have expired and were not accessed since.
    fileprivate func expiredEntries(
        among keys: ArraySlice<CacheKey>,
        at now: UInt32
    ) throws(SystemError) -> [IndexEntry] {
        var entries: [IndexEntry] = []
        for key in keys {
            guard let entry = index.entry(for: key), entry.expirationSeconds <= now,
                try !renewIfAccessed(key, at: now)
            else { continue }
            entries.append(entry)
        }
        return entries
    }

    /// Evicts up to `maximum` entries while more than `size` bytes are in use, and returns their number.
    fileprivate func evictBatch(downTo size: Int, maximum: Int) throws(SystemError) -> Int {
        let count = index.count
        try evict(derivedFirst: true) { self.index.allocatedSize > size && count - self.index.count < maximum }
        return count - index.count
    }
}
