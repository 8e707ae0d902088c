import EideticCore
import Glibc

// What makes good what a kill, a damaged ledger or a power cut left behind.
extension Ledger {
    /// Makes removals again that were not finished.
    func finishRemovals() throws(SystemError) {
        guard !unfinished.isEmpty else { return }
        for key in unfinished where index.entry(key) == nil { try unlinkIfThere(layout.path(of: key)) }
        unfinished = []
        try append([LedgerRecord(.done)])
    }

    /// Looks whether what was put there last is there: its writer may have been killed in between.
    func settleLatestPut() throws(SystemError) {
        guard let record = unproven else { return }
        unproven = nil
        let key = record.entry.key
        try unlinkIfThere(layout.temporary(of: key, writer: record.writer))
        if let status = try? files.linkStatus(of: layout.path(of: key)), status.size == Int(record.entry.size) {
            return
        }
        try look(at: key)
    }

    /// Settles what dead writers had begun: whether each one's rename was made is seen from the file.
    func settleDeadWriters() throws(SystemError) {
        for (writer, reservation) in outstanding {
            let instance = writer >> 32
            if instance == lock.instance { continue }
            if try lock.isAlive(instance) { continue }
            try unlinkIfThere(layout.temporary(of: reservation.key, writer: writer))
            try look(at: reservation.key)
            abandon(writer)
        }
    }

    /// Makes the index say of a key what the file says; gives whether that was something new.
    @discardableResult
    func look(at key: CacheKey) throws(SystemError) -> Bool {
        let known = index.entry(key)
        guard let found = try entry(of: key) else {
            if known == nil { return false }
            index.remove(key)
            appendOrRewrite([LedgerRecord(.remove, known ?? IndexEntry()), LedgerRecord(.done)])
            return true
        }
        if let known, known.size == found.size { return false }
        index.put(found)
        appendOrRewrite([LedgerRecord(.put, found)])
        return true
    }

    /// Makes the ledger again from the files.
    func rebuild() throws(SystemError) {
        Log.write(.info, .store, "\(layout.directory): the ledger is made again from the files")
        let own = outstanding.filter { $0.key >> 32 == lock.instance }
        forget()
        for (writer, reservation) in own { reserve(writer, reservation) }
        for shard in DiskLayout.shards {
            for key in try survey(shard) {
                if let entry = try entry(of: key) { index.put(entry) }
            }
        }
        isDoubtful = false
        try rewrite()
    }

    /// Makes the index agree with the files of one folder.
    func check(shard: Int) throws(SystemError) {
        let there = Set(try survey(shard))
        for key in there where index.entry(key) == nil { try look(at: key) }
        for key in index.keys(where: { $0.key.shard == shard }) where !there.contains(key) { try look(at: key) }
    }

    /// The keys whose files are in a folder; temporary files of dead writers are removed.
    private func survey(_ shard: Int) throws(SystemError) -> [CacheKey] {
        let folder = layout.shard(shard)
        var keys: [CacheKey] = []
        for name in try files.existingNames(in: folder) {
            if let key = DiskLayout.key(named: name) {
                if key.shard == shard { keys.append(key) }
            } else if let writer = DiskLayout.writer(named: name), try !lock.isAlive(writer >> 32) {
                try unlinkIfThere("\(folder)/\(name)")
            }
        }
        return keys
    }

    private func entry(of key: CacheKey) throws(SystemError) -> IndexEntry? {
        let path = layout.path(of: key)
        switch try reader.heading(of: path) {
        case nil: return nil
        case .success(let heading):
            return indexEntry(key, heading)
        case .failure:
            if try reader.restore(path), case .success(let heading)? = try reader.heading(of: path) {
                return indexEntry(key, heading)
            }
            try unlinkIfThere(path)
            return nil
        }
    }

    private func indexEntry(_ key: CacheKey, _ heading: EntryReader.Heading) -> IndexEntry {
        let status = heading.status
        return limits.indexEntry(key, fileSize: status.size, heading.head.metadata, modified: status.modified)
    }

    /// Looks whether an entry that seems to be too old was used since, and notes it where so.
    func wasUsed(_ key: CacheKey, _ now: UInt32) throws(SystemError) -> Bool {
        guard limits.ageBegins == .access, var found = try entry(of: key), found.expires > now else { return false }
        // The file does not tell what its uses have taught.
        if let known = index.entry(key) { (found.uses, found.importance) = (known.uses, known.importance) }
        index.put(found)
        appendOrRewrite([LedgerRecord(.put, found)])
        return true
    }

    func unlinkIfThere(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try files.unlink(path)
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw error }
        }
    }
}
