import EideticCore
import struct FoundationEssentials.URL

/// The removals from a disk cache: of a key, by expiration, by priority, and by the age of the files.
///
/// Other processes get access between two batches, and a removal stops there when its context is cancelled.
struct EntryRemoval: Sendable {
    /// The number of entries that one transaction removes.
    private static let batchSize = 64

    let directory: SharedDirectory

    /// Removes an entry, and returns the URL that its file had; `nil` if there was none.
    func remove(_ key: String) throws(EideticError) -> URL? {
        guard EntryKey.isValid(key) else { return nil }
        let key = directory.key.keyForReading(key)
        let hash = CacheKey(key)
        let part = CacheKey(EntryKey.part(of: key))
        let hooks = directory.hooks
        hooks.willRemove?(key)
        let existed = try directory.writeTransaction { ledger throws(SystemError) in
            if ledger.index.entry(for: part) != nil { _ = try ledger.remove(part) }
            return try ledger.remove(hash)
        }
        guard existed else { return nil }
        hooks.didRemove?(key)
        return URL(filePath: directory.layout.path(of: hash), directoryHint: .notDirectory)
    }

    func removeAll() throws(EideticError) {
        try directory.writeTransaction { ledger throws(SystemError) in try ledger.removeAll() }
        directory.hooks.didRemoveAll?()
    }

    func removeExpired(context: JobContext) throws(EideticError) -> Int {
        let now = UInt32(clamping: directory.time.now.seconds)
        let keys = try directory.writeTransaction { $0.index.keys { $0.expirationSeconds <= now } }
        return try removeInBatches(keys, context: context) { ledger, batch throws(SystemError) in
            try ledger.expiredEntries(among: batch, at: now)
        } removal: { ledger, batch throws(SystemError) in
            try ledger.removeExpired(batch, at: now)
        }
    }

    /// Removes expired entries on a thread of the cache.
    func scheduleRemovalOfExpired() {
        directory.work.schedule(for: directory) { directory, context in
            do throws(EideticError) {
                let count = try EntryRemoval(directory: directory).removeExpired(context: context)
                Log.write(.info, category: .store, message: "\(count) expired entries removed")
            } catch {
                Log.write(.warning, category: .store, message: "expired entries could not be removed: \(error)")
            }
        }
    }

    func trim(toSize size: ByteCount, context: JobContext) throws(EideticError) -> Int {
        var count = 0
        directory.notifyWillEvict { $0.victims(downTo: size.bytes, derivedFirst: true) }
        while !context.isCancelled {
            let evictedCount = try directory.writeTransaction { ledger throws(SystemError) in
                try ledger.evictBatch(downTo: size.bytes, maximum: Self.batchSize)
            }
            count += evictedCount
            if evictedCount < Self.batchSize { break }
        }
        return count
    }

    private func removeInBatches(
        _ keys: [CacheKey],
        context: JobContext,
        victims: (Ledger, ArraySlice<CacheKey>) throws(SystemError) -> [IndexEntry],
        removal: (Ledger, ArraySlice<CacheKey>) throws(SystemError) -> Int
    ) throws(EideticError) -> Int {
        var count = 0
        for start in stride(from: 0, to: keys.count, by: Self.batchSize) where !context.isCancelled {
            let batch = keys[start..<min(keys.count, start + Self.batchSize)]
            directory.notifyWillEvict { ledger throws(SystemError) in try victims(ledger, batch) }
            count += try directory.writeTransaction { ledger throws(SystemError) in try removal(ledger, batch) }
        }
        return count
    }
}

// MARK: Removal by modification time
extension EntryRemoval {
    /// Removes the entries whose files were modified before a date.
    func removeFiles(modifiedBefore date: Timestamp, context: JobContext) throws(EideticError) -> Int {
        try remove(try datedFiles().filter { $0.modificationTime < date }, context: context)
    }

    /// Removes entries older than an age, and then the oldest of too many; see ``DiskCache/sweep(olderThan:downTo:)``.
    func sweep(
        olderThan age: Duration?,
        downTo size: ByteCount?,
        context: JobContext
    ) throws(EideticError) -> DiskCache.SweepResult {
        let cutoff = directory.time.now + .nanoseconds(-max(0, (age ?? directory.ages.maximumAge).inNanoseconds))
        let files = try datedFiles()
        let old = files.filter { $0.modificationTime < cutoff }
        let expiredCount = try remove(old.sorted(by: DatedFile.isOlder), context: context)
        let remaining = files.filter { $0.modificationTime >= cutoff }
        let surplus = DatedFile.oldest(of: remaining, exceeding: size?.bytes ?? directory.limits.totalSize)
        return .init(expiredCount: expiredCount, evictedCount: try remove(surplus, context: context))
    }

    private func datedFiles() throws(EideticError) -> [DatedFile] {
        do throws(SystemError) {
            var dated: [DatedFile] = []
            for shard in DiskLayout.shards {
                for key in try directory.layout.keys(inShard: shard, files: directory.files) {
                    guard let status = try? directory.files.linkStatus(of: directory.layout.path(of: key)) else {
                        continue
                    }
                    let time = status.modificationTime
                    dated.append(DatedFile(key: key, modificationTime: time, allocatedSize: status.allocatedSize))
                }
            }
            return dated
        } catch {
            throw EideticError(error)
        }
    }

    private func remove(_ files: [DatedFile], context: JobContext) throws(EideticError) -> Int {
        try removeInBatches(files.map(\.key), context: context) { ledger, batch in
            batch.compactMap { ledger.index.entry(for: $0) }
        } removal: { ledger, batch throws(SystemError) in
            var count = 0
            for key in batch where try ledger.remove(key, isEviction: true) { count += 1 }
            return count
        }
    }
}

/// An entry's file with its modification time.
struct DatedFile: Equatable {
    let key: CacheKey
    let modificationTime: Timestamp
    let allocatedSize: Int

    static func isOlder(_ file: DatedFile, than other: DatedFile) -> Bool {
        file.modificationTime < other.modificationTime
    }

    /// Returns the oldest files, down to half of `size`, if all use more than `size` bytes.
    static func oldest(of files: [DatedFile], exceeding size: Int) -> [DatedFile] {
        var allocatedSize = files.reduce(0) { $0 + $1.allocatedSize }
        guard allocatedSize > size else { return [] }
        let oldest = files.sorted(by: isOlder).prefix { file in
            defer { allocatedSize -= file.allocatedSize }
            return allocatedSize > size / 2
        }
        return Array(oldest)
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
