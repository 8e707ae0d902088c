import EideticCore
import Glibc

// Making room, and removing.
extension Ledger {
    private static let batchSize = 64

    /// The bytes that entries take, with those that are being written.
    var usedSize: Int { index.allocatedSize + reservedSize }

    /// Evicts what is worth least until `count` bytes fit below the limit.
    ///
    /// Fails with `EDQUOT` where the room is taken by other writes that are under way.
    func makeRoom(for count: Int) throws(SystemError) {
        guard usedSize + count > limits.totalSize else { return }
        try evict { self.usedSize + count > self.limits.totalSize - self.limits.evictionSlack }
        guard usedSize + count <= limits.totalSize else {
            throw SystemError(.write, errorNumber: EDQUOT, path: layout.directory)
        }
    }

    /// Looks now and then whether the file system has room, and evicts derived entries first where it has not.
    ///
    /// Fails with `ENOSPC` where there is less room than has to stay free, and nothing more to evict.
    func ensureFreeSpace(for count: Int) throws(SystemError) {
        bytesUntilSpaceCheck -= max(count, 64 << 10)
        guard bytesUntilSpaceCheck < 0 else { return }
        bytesUntilSpaceCheck = 8 << 20
        let free = try files.freeSpace(at: layout.directory)
        let bytes = limits.minimumFreeSpace + count - free.availableBytes
        let inodes = free.countsInodes ? DiskLimits.minimumFreeInodes - free.availableInodes : 0
        guard bytes > 0 || inodes > 0 else { return }
        bytesUntilSpaceCheck = 0
        let (used, entries) = (index.allocatedSize, index.count)
        try evict(derivedFirst: true) { used - self.index.allocatedSize < bytes || entries - self.index.count < inodes }
        guard used - index.allocatedSize >= bytes, entries - index.count >= inodes else {
            throw SystemError(.statvfs, errorNumber: ENOSPC, path: layout.directory)
        }
    }

    /// Evicts once because the file system turned out to be full; gives whether anything went.
    func evictOnFullDisk(for count: Int) throws(SystemError) -> Bool {
        let used = index.allocatedSize
        let targetSize = max(2 * count, limits.totalSize / 64)
        let entries = index.count
        try evict(derivedFirst: true) {
            used - self.index.allocatedSize < targetSize || entries - self.index.count < 16
        }
        return index.count < entries
    }

    /// Evicts as long as `isNeeded` says so and there is something left.
    func evict(derivedFirst: Bool = false, while isNeeded: () -> Bool) throws(SystemError) {
        while isNeeded() {
            var entries: [IndexEntry] = []
            while entries.count < Self.batchSize, isNeeded() {
                let isOverBudget = index.allocatedSizeByKind.derived > limits.derivedSize
                guard let entry = index.evict(derivedFirst: derivedFirst || isOverBudget) else { break }
                entries.append(entry)
            }
            if entries.isEmpty { return }
            try removeFiles(of: entries, event: .evict, isEviction: true)
        }
    }

    /// Removes a key's entry; gives whether there was a file.
    func remove(_ key: CacheKey, isEviction: Bool = false) throws(SystemError) -> Bool {
        guard let entry = index.remove(key) else {
            do throws(SystemError) {
                try files.unlink(layout.path(of: key))
                return true
            } catch {
                guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
                return false
            }
        }
        try removeFiles(of: [entry], event: .remove, isEviction: isEviction)
        return true
    }

    /// Removes the files of entries that the index has given up already.
    ///
    /// What cannot be removed is put back, and the reason thrown.
    ///
    /// `isDeparture` says that they go by themselves, which the hook is told of.
    func removeFiles(
        of entries: [IndexEntry],
        event: LedgerRecord.Event,
        isEviction: Bool = false
    ) throws(SystemError) {
        let records = entries.map { LedgerRecord(event, entry: $0) }
        // On a full disk the note may not fit before the files are gone.
        let isRecorded = (try? append(records)) != nil
        var failure: SystemError?
        var followUp: [LedgerRecord] = isRecorded ? [] : records
        for entry in entries {
            let name = evictedKeys != nil && isEviction ? storedKey(of: entry.key) : nil
            do throws(SystemError) {
                try unlinkIfExists(layout.path(of: entry.key))
                if let name { evictedKeys?.append(name) }
            } catch {
                failure = error
                index.put(entry)
                followUp.append(LedgerRecord(.put, entry: entry))
            }
        }
        appendOrRewrite(followUp + [LedgerRecord(.finishRemovals)])
        if let failure { throw failure }
    }

    /// Removes all entries, also those that the ledger does not know.
    func removeAll() throws(SystemError) {
        // Without a ledger whoever comes after a kill counts what is left.
        try unlinkIfExists(layout.ledgerPath)
        file = nil
        defer { needsRewrite = false }
        for shard in DiskLayout.shards {
            let folder = layout.shardPath(shard)
            for name in try files.existingNames(in: folder) where DiskLayout.key(named: name)?.shard == shard {
                try unlinkIfExists("\(folder)/\(name)")
            }
        }
        index = DiskIndex(blockSize: limits.blockSize)
        try rewrite()
    }
}
