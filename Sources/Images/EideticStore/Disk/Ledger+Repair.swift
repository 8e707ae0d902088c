import EideticCore
import Glibc

// Repair after a kill, a power cut, or damage to the ledger.
extension Ledger {
    /// Repeats the removals of a process that was killed before it recorded their end.
    func finishRemovals() throws(SystemError) {
        guard !pendingRemovals.isEmpty else { return }
        for key in pendingRemovals where index.entry(for: key) == nil { try unlinkIfExists(layout.path(of: key)) }
        pendingRemovals = []
        try append([LedgerRecord(.finishRemovals)])
    }

    /// Checks that the file of the latest put exists: its writer may have been killed before it wrote it.
    func verifyLatestPut() throws(SystemError) {
        guard let record = unverifiedPut else { return }
        unverifiedPut = nil
        let key = record.entry.key
        try unlinkIfExists(layout.temporaryPath(of: key, writer: record.writer))
        if let status = try? files.linkStatus(of: layout.path(of: key)), status.size == Int(record.entry.size) {
            return
        }
        try reconcile(key)
    }

    /// Compares the reservations of dead writers with their files, which show whether the rename was made.
    func reconcileDeadWriters() throws(SystemError) {
        for (writer, reservation) in reservations {
            let instance = writer >> 32
            if instance == lock.instance { continue }
            if try lock.isAlive(instance) { continue }
            try unlinkIfExists(layout.temporaryPath(of: reservation.key, writer: writer))
            try reconcile(reservation.key)
            abandonWrite(writer)
        }
    }

    /// Updates the index entry of a key from its file, and returns `true` if that changed the index.
    @discardableResult
    func reconcile(_ key: CacheKey) throws(SystemError) -> Bool {
        let known = index.entry(for: key)
        guard let found = try loadEntry(for: key) else {
            if known == nil { return false }
            index.remove(key)
            appendOrRewrite([LedgerRecord(.remove, entry: known ?? IndexEntry()), LedgerRecord(.finishRemovals)])
            return true
        }
        if let known, known.size == found.size { return false }
        index.put(found)
        appendOrRewrite([LedgerRecord(.put, entry: found)])
        return true
    }

    func rebuild() throws(SystemError) {
        Log.write(.info, category: .store, message: "\(layout.directory): rebuilding the ledger from the files")
        let ownReservations = reservations.filter { $0.key >> 32 == lock.instance }
        reset()
        for (writer, reservation) in ownReservations { add(reservation, for: writer) }
        for shard in DiskLayout.shards {
            for key in try scan(shard: shard) {
                if let entry = try loadEntry(for: key) { index.put(entry) }
            }
        }
        needsReconciliation = false
        try rewrite()
    }

    /// Updates the index entries of one shard from its files.
    func reconcile(shard: Int) throws(SystemError) {
        let found = Set(try scan(shard: shard))
        for key in found where index.entry(for: key) == nil { try reconcile(key) }
        for key in index.keys(where: { $0.key.shard == shard }) where !found.contains(key) { try reconcile(key) }
    }

    /// Returns the keys of a shard's files, and removes temporary files of dead writers.
    private func scan(shard: Int) throws(SystemError) -> [CacheKey] {
        let directory = layout.shardPath(shard)
        var keys: [CacheKey] = []
        for name in try files.existingNames(in: directory) {
            if let key = DiskLayout.key(named: name) {
                if key.shard == shard { keys.append(key) }
            } else if let writer = DiskLayout.writer(named: name), try !lock.isAlive(writer >> 32) {
                try unlinkIfExists("\(directory)/\(name)")
            }
        }
        return keys
    }

    private func loadEntry(for key: CacheKey) throws(SystemError) -> IndexEntry? {
        let path = layout.path(of: key)
        switch try reader.summary(of: path) {
        case nil: return nil
        case .success(let summary):
            return indexEntry(for: key, summary: summary)
        case .failure:
            if try reader.repair(path), case .success(let summary)? = try reader.summary(of: path) {
                return indexEntry(for: key, summary: summary)
            }
            try unlinkIfExists(path)
            return nil
        }
    }

    private func indexEntry(for key: CacheKey, summary: EntryReader.EntrySummary) -> IndexEntry {
        limits.indexEntry(
            for: key,
            fileSize: summary.status.size,
            metadata: summary.footer.metadata,
            modified: summary.status.modificationTime
        )
    }

    /// Returns `true` if an entry whose indexed expiration time has passed was accessed since, and records the new
    /// time.
    func renewIfAccessed(_ key: CacheKey, at now: UInt32) throws(SystemError) -> Bool {
        guard limits.ages.basis == .access, var found = try loadEntry(for: key), found.expirationSeconds > now else {
            return false
        }
        // The file has the time of the last access, but not the access count.
        if let known = index.entry(for: key) {
            found.accessCount = known.accessCount
            found.importance = known.importance
        }
        index.put(found)
        appendOrRewrite([LedgerRecord(.put, entry: found)])
        return true
    }

    func unlinkIfExists(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try files.unlink(path)
        } catch {
            guard error.errorNumber == ENOENT || error.errorNumber == ENOTDIR else { throw error }
        }
    }
}
