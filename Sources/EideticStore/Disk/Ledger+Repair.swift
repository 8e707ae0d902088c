import EideticCore
import Glibc

// What makes good what a kill, a damaged ledger or a power cut left behind.
extension Ledger {
    /// Makes removals again that were not finished.
    func finishRemovals() throws(SystemError) {
        guard !pendingRemovals.isEmpty else { return }
        for key in pendingRemovals where index.entry(for: key) == nil { try unlinkIfExists(layout.path(of: key)) }
        pendingRemovals = []
        try append([LedgerRecord(.finishRemovals)])
    }

    /// Looks whether what was put there last is there: its writer may have been killed in between.
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

    /// Settles what dead writers had begun: whether each one's rename was made is seen from the file.
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

    /// Makes the index say of a key what the file says; gives whether that was something new.
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

    /// Makes the ledger again from the files.
    func rebuild() throws(SystemError) {
        Log.write(.info, category: .store, message: "\(layout.directory): the ledger is made again from the files")
        let ownReservations = reservations.filter { $0.key >> 32 == lock.instance }
        reset()
        for (writer, reservation) in ownReservations { reserve(writer: writer, reservation: reservation) }
        for shard in DiskLayout.shards {
            for key in try scan(shard: shard) {
                if let entry = try loadEntry(for: key) { index.put(entry) }
            }
        }
        needsReconciliation = false
        try rewrite()
    }

    /// Makes the index agree with the files of one folder.
    func reconcile(shard: Int) throws(SystemError) {
        let found = Set(try scan(shard: shard))
        for key in found where index.entry(for: key) == nil { try reconcile(key) }
        for key in index.keys(where: { $0.key.shard == shard }) where !found.contains(key) { try reconcile(key) }
    }

    /// The keys whose files are in a folder; temporary files of dead writers are removed.
    private func scan(shard: Int) throws(SystemError) -> [CacheKey] {
        let folder = layout.shardPath(shard)
        var keys: [CacheKey] = []
        for name in try files.existingNames(in: folder) {
            if let key = DiskLayout.key(named: name) {
                if key.shard == shard { keys.append(key) }
            } else if let writer = DiskLayout.writer(named: name), try !lock.isAlive(writer >> 32) {
                try unlinkIfExists("\(folder)/\(name)")
            }
        }
        return keys
    }

    private func loadEntry(for key: CacheKey) throws(SystemError) -> IndexEntry? {
        let path = layout.path(of: key)
        switch try reader.summary(of: path) {
        case nil: return nil
        case .success(let heading):
            return indexEntry(for: key, summary: heading)
        case .failure:
            if try reader.repair(path), case .success(let heading)? = try reader.summary(of: path) {
                return indexEntry(for: key, summary: heading)
            }
            try unlinkIfExists(path)
            return nil
        }
    }

    private func indexEntry(for key: CacheKey, summary heading: EntryReader.EntrySummary) -> IndexEntry {
        let status = heading.status
        return limits.indexEntry(
            for: key,
            fileSize: status.size,
            metadata: heading.head.metadata,
            modified: status.modificationTime
        )
    }

    /// Looks whether an entry that seems to be too old was used since, and notes it where so.
    func renewIfAccessed(_ key: CacheKey, at now: UInt32) throws(SystemError) -> Bool {
        guard limits.ageBasis == .access, var found = try loadEntry(for: key), found.expirationSeconds > now else {
            return false
        }
        // The file does not tell what its uses have taught.
        if let known = index.entry(for: key) {
            (found.accessCount, found.importance) = (known.accessCount, known.importance)
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
