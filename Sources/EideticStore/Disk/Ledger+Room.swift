import EideticCore
import Glibc

// Making room, and removing.
extension Ledger {
    private static let batch = 64

    /// The bytes that entries take, with those that are being written.
    var used: Int { index.allocated + reserved }

    /// Evicts what is worth least until `count` bytes fit below the limit.
    ///
    /// Fails with `EDQUOT` where the room is taken by other writes that are under way.
    func makeRoom(for count: Int) throws(SystemError) {
        guard used + count > limits.total else { return }
        try evict { self.used + count > self.limits.total - self.limits.slack }
        guard used + count <= limits.total else { throw SystemError(.write, EDQUOT, path: layout.directory) }
    }

    /// Looks now and then whether the file system has room, and evicts derived entries first where it has not.
    ///
    /// Fails with `ENOSPC` where there is less room than has to stay free, and nothing more to evict.
    func guardFreeSpace(for count: Int) throws(SystemError) {
        untilCheck -= max(count, 64 << 10)
        guard untilCheck < 0 else { return }
        untilCheck = 8 << 20
        let free = try files.freeSpace(at: layout.directory)
        let bytes = limits.minimumFree + count - free.bytes
        let inodes = free.hasInodes ? DiskLimits.minimumInodes - free.inodes : 0
        guard bytes > 0 || inodes > 0 else { return }
        untilCheck = 0
        let (used, entries) = (index.allocated, index.count)
        try evict(derivedFirst: true) { used - self.index.allocated < bytes || entries - self.index.count < inodes }
        guard used - index.allocated >= bytes, entries - index.count >= inodes else {
            throw SystemError(.statvfs, ENOSPC, path: layout.directory)
        }
    }

    /// Evicts once because the file system turned out to be full; gives whether anything went.
    func makeRoomOnFullDisk(for count: Int) throws(SystemError) -> Bool {
        let used = index.allocated
        let wanted = max(2 * count, limits.total / 64)
        let entries = index.count
        try evict(derivedFirst: true) { used - self.index.allocated < wanted || entries - self.index.count < 16 }
        return index.count < entries
    }

    /// Evicts as long as `isNeeded` says so and there is something left.
    func evict(derivedFirst: Bool = false, while isNeeded: () -> Bool) throws(SystemError) {
        while isNeeded() {
            var entries: [IndexEntry] = []
            while entries.count < Self.batch, isNeeded() {
                let isOverBudget = index.allocatedByKind.derived > limits.derived
                guard let entry = index.evict(derivedFirst: derivedFirst || isOverBudget) else { break }
                entries.append(entry)
            }
            if entries.isEmpty { return }
            try removeFiles(entries, .evict, isDeparture: true)
        }
    }

    /// Removes a key's entry; gives whether there was a file.
    func remove(_ key: CacheKey, isDeparture: Bool = false) throws(SystemError) -> Bool {
        guard let entry = index.remove(key) else {
            do throws(SystemError) {
                try files.unlink(layout.path(of: key))
                return true
            } catch {
                guard EntryReader.absence.contains(error.number) else { throw error }
                return false
            }
        }
        try removeFiles([entry], .remove, isDeparture: isDeparture)
        return true
    }

    /// Removes the files of entries that the index has given up already.
    ///
    /// What cannot be removed is put back, and the reason thrown.
    ///
    /// `isDeparture` says that they go by themselves, which the hook is told of.
    func removeFiles(
        _ entries: [IndexEntry],
        _ event: LedgerRecord.Event,
        isDeparture: Bool = false
    ) throws(SystemError) {
        let records = entries.map { LedgerRecord(event, $0) }
        // On a full disk the note may not fit before the files are gone.
        let isNoted = (try? append(records)) != nil
        var failure: SystemError?
        var after: [LedgerRecord] = isNoted ? [] : records
        for entry in entries {
            let name = departed != nil && isDeparture ? text(of: entry.key) : nil
            do throws(SystemError) {
                try unlinkIfThere(layout.path(of: entry.key))
                if let name { departed?.append(name) }
            } catch {
                failure = error
                index.put(entry)
                after.append(LedgerRecord(.put, entry))
            }
        }
        appendOrRewrite(after + [LedgerRecord(.done)])
        if let failure { throw failure }
    }

    /// Removes all entries, also those that the ledger does not know.
    func removeAll() throws(SystemError) {
        // Without a ledger whoever comes after a kill counts what is left.
        try unlinkIfThere(layout.ledger)
        file = nil
        defer { needsRewrite = false }
        for shard in DiskLayout.shards {
            let folder = layout.shard(shard)
            for name in try files.existingNames(in: folder) where DiskLayout.key(named: name)?.shard == shard {
                try unlinkIfThere("\(folder)/\(name)")
            }
        }
        index = DiskIndex(block: limits.block)
        try rewrite()
    }
}
