import EideticCore
import Glibc

// Evicting and removing.
extension Ledger {
    private static let batchSize = 64

    /// The bytes that entries and reservations use.
    var usedSize: Int { index.allocatedSize + reservedSize }

    /// Evicts entries of low priority until `count` bytes fit below the limit.
    ///
    /// Fails with `EDQUOT` if reservations of other writers use the space.
    func makeRoom(for count: Int) throws(SystemError) {
        guard usedSize + count > limits.totalSize else { return }
        try evict { self.usedSize + count > self.limits.totalSize - self.limits.evictionSlack }
        guard usedSize + count <= limits.totalSize else {
            throw SystemError(.write, errorNumber: EDQUOT, path: layout.directory)
        }
    }

    /// Checks the file system's free space from time to time, and evicts, derived entries first, if it is too small.
    ///
    /// Fails with `ENOSPC` if too little is free and no entry is left to evict.
    func ensureFreeSpace(for count: Int) throws(SystemError) {
        bytesUntilSpaceCheck -= max(count, 64 << 10)
        guard bytesUntilSpaceCheck < 0 else { return }
        bytesUntilSpaceCheck = 8 << 20
        let free = try files.freeSpace(at: layout.directory)
        let bytes = limits.minimumFreeSpace + count - free.availableBytes
        let inodes = free.countsInodes ? DiskLimits.minimumFreeInodes - free.availableInodes : 0
        guard bytes > 0 || inodes > 0 else { return }
        bytesUntilSpaceCheck = 0
        let (allocatedSize, entryCount) = (index.allocatedSize, index.count)
        try evict(derivedFirst: true) {
            allocatedSize - self.index.allocatedSize < bytes || entryCount - self.index.count < inodes
        }
        guard allocatedSize - index.allocatedSize >= bytes, entryCount - index.count >= inodes else {
            throw SystemError(.statvfs, errorNumber: ENOSPC, path: layout.directory)
        }
    }

    /// Evicts after a write failed on a full file system; returns `true` if an entry was evicted.
    func evictOnFullDisk(for count: Int) throws(SystemError) -> Bool {
        let allocatedSize = index.allocatedSize
        let targetSize = max(2 * count, limits.totalSize / 64)
        let entryCount = index.count
        try evict(derivedFirst: true) {
            allocatedSize - self.index.allocatedSize < targetSize || entryCount - self.index.count < 16
        }
        return index.count < entryCount
    }

    /// Evicts while `isNeeded` returns `true` and entries are left.
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

    /// Removes the entry of a key, and returns `true` if there was one.
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

    /// Removes the files of entries that were already removed from the index.
    ///
    /// If a file cannot be removed, its entry is put back and the error thrown.
    ///
    /// `isEviction` means that the cache removes the entries by itself, so that `didEvict` is called.
    func removeFiles(
        of entries: [IndexEntry],
        event: LedgerRecord.Event,
        isEviction: Bool = false
    ) throws(SystemError) {
        let records = entries.map { LedgerRecord(event, entry: $0) }
        // On a full disk the records may fit only after the files were removed.
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

    /// Returns the key stored in an entry's file, or `nil` if the file cannot be read.
    func storedKey(of key: CacheKey) -> String? {
        guard case .success(let summary)? = try? reader.summary(of: layout.path(of: key)) else { return nil }
        return summary.footer.key
    }

    /// Returns the entries to evict now so that `count` more bytes fit.
    func victims(toFit count: Int) -> [IndexEntry] {
        guard usedSize + count > limits.totalSize else { return [] }
        return victims(downTo: limits.totalSize - limits.evictionSlack - reservedSize - count)
    }

    /// Returns the entries to evict until the remaining ones use at most `size` bytes.
    func victims(downTo size: Int, derivedFirst: Bool = false) -> [IndexEntry] {
        var index = index
        var victims: [IndexEntry] = []
        while index.allocatedSize > size {
            let isOverBudget = index.allocatedSizeByKind.derived > limits.derivedSize
            guard let entry = index.evict(derivedFirst: derivedFirst || isOverBudget) else { break }
            victims.append(entry)
        }
        return victims
    }

    /// Removes all entries, also those that are not in the ledger.
    func removeAll() throws(SystemError) {
        // After a kill in between, the next process rebuilds the missing ledger from the remaining files.
        try unlinkIfExists(layout.ledgerPath)
        file = nil
        defer { needsRewrite = false }
        for shard in DiskLayout.shards {
            for key in try layout.keys(inShard: shard, files: files) { try unlinkIfExists(layout.path(of: key)) }
        }
        index = DiskIndex(blockSize: limits.blockSize)
        try rewrite()
    }
}
