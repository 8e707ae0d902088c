public import EideticCore

extension DiskCache {
    /// Reads an entry; blocks on file work.
    ///
    /// One open, one read, one close, and a checksum over all that was read. What is damaged or belongs to another
    /// key is removed.
    ///
    /// - Parameters:
    ///   - key: The key; an empty one is never found.
    ///   - allowingExpired: Also gives an entry that is too old, for who wants to revalidate it. False by default.
    /// - Returns: `nil` where there is no such entry, or it is too old.
    /// - Throws: `permissionDenied`, or `fileFailure` where the device fails; never for a damaged entry.
    public func read(_ key: String, allowingExpired: Bool = false) throws(EideticError) -> Entry? {
        if case .entry(let entry) = try find(key, allowingExpired: allowingExpired) { return entry }
        return nil
    }

    /// What a look finds, and why it finds nothing.
    package enum Finding: Sendable, Hashable {
        case entry(Entry)
        case absent
        /// There is one that is too old to be served.
        case expired
        /// There was one that could not be served; with what was wrong with it.
        ///
        /// It is gone, except where the cache is only read, or removing it failed.
        case damaged(String)
    }

    /// Reads an entry as `read` does, and tells why there is none.
    package func find(_ key: String, allowingExpired: Bool = false) throws(EideticError) -> Finding {
        guard Self.isKey(key) else { return .absent }
        let own = try ownFinding(key, allowingExpired)
        if case .entry = own { return own }
        for bundle in configuration.bundles {
            guard let bytes = try bundle.read(key, files) else { continue }
            return .entry(Entry(key: key, bytes: bytes, metadata: Metadata()))
        }
        return own
    }

    private func ownFinding(_ key: String, _ allowingExpired: Bool) throws(EideticError) -> Finding {
        let hash = CacheKey(key)
        do throws(SystemError) {
            let path = layout.path(of: hash)
            guard var file = try reader.contents(of: path, withTime: countsFromUse) else { return .absent }
            switch verified(&file, key, hash) {
            case .failure(let flaw): return .damaged(flaw.description)
            case .success(let found):
                if !allowingExpired, !isFresh(found, hash) { return .expired }
                noteUse(hash)
                return .entry(found.entry)
            }
        } catch {
            throw EideticError(error)
        }
    }

    /// Whether `read` would find an entry; blocks on file work.
    ///
    /// Looks at the entry's key and age and does not read its bytes, so damage to them is not seen.
    public func contains(_ key: String) throws(EideticError) -> Bool {
        if let info = try info(for: key), !info.isExpired { return true }
        for bundle in configuration.bundles where try bundle.path(for: key, files) != nil { return true }
        return false
    }

    /// What is known of an entry, without reading its bytes; blocks on file work.
    ///
    /// Gives `nil` where there is no such entry; one that is too old is given, and says so.
    public func info(for key: String) throws(EideticError) -> EntryInfo? {
        guard Self.isKey(key) else { return nil }
        let path = path(for: key)
        do throws(SystemError) {
            guard case .success(let heading)? = try reader.heading(of: path) else { return nil }
            guard heading.head.key.utf8.elementsEqual(key.utf8) else { return nil }
            return info(heading, path)
        } catch {
            throw EideticError(error)
        }
    }

    func info(_ heading: EntryReader.Heading, _ path: String) -> EntryInfo {
        EntryInfo(
            key: heading.head.key,
            file: path,
            size: ByteCount(heading.head.bodySize),
            allocated: ByteCount(heading.status.allocated),
            metadata: heading.head.metadata,
            isExpired: limits.isExpired(heading.head.metadata, modified: heading.status.modified, at: time.now)
        )
    }

    /// An entry, and the time of modification of the file that it was read from, where its age counts from that.
    private struct Verified {
        let entry: Entry
        let modified: Timestamp?
    }

    /// Whether ages count from the latest use, which the file's time of modification tells.
    private var countsFromUse: Bool { configuration.expiry == .access }

    private func verified(
        _ file: inout EntryReader.LoadedFile,
        _ key: String,
        _ hash: CacheKey
    ) -> Result<Verified, EntryFile.Flaw> {
        do throws(EntryFile.Flaw) {
            return .success(Verified(entry: try file.takeEntry(expecting: key), modified: file.modified))
        } catch {
            return rescued(hash, key, error).map { .success($0) } ?? .failure(error)
        }
    }

    /// Looks again at a file that did not verify, with nobody else at the directory.
    ///
    /// Its head may have been under way, or been cut off by a kill, or another file may have taken its place. What is
    /// damaged still is removed.
    private func rescued(_ hash: CacheKey, _ key: String, _ flaw: EntryFile.Flaw) -> Verified? {
        if configuration.isReadOnly { return nil }
        let path = layout.path(of: hash)
        let found = try? change { ledger throws(SystemError) -> Verified? in
            if try ledger.reader.restore(path),
                var file = try ledger.reader.contents(of: path, withTime: self.countsFromUse),
                let entry = try? file.takeEntry(expecting: key)
            {
                try ledger.look(at: hash)
                return Verified(entry: entry, modified: file.modified)
            }
            Log.write(.warning, .store, "\(path) is dropped: \(flaw)")
            _ = try ledger.remove(hash)
            return nil
        }
        return found ?? nil
    }

    /// Whether an entry is young enough to be served; where its age counts from its use, this is one.
    private func isFresh(_ found: Verified, _ key: CacheKey) -> Bool {
        let (now, metadata) = (time.now, found.entry.metadata)
        let used = found.modified ?? metadata.stored
        if limits.isExpired(metadata, modified: used, at: now) { return false }
        if countsFromUse, metadata.expires == nil, !configuration.isReadOnly, used + .seconds(1) <= now {
            try? files.setModified(layout.path(of: key), to: now)
        }
        return true
    }

    private func noteUse(_ key: CacheKey) {
        guard marks.note(key), !configuration.isReadOnly else { return }
        pool.enqueue(WorkContext(priority: .low)) { [weak self] in self?.writeUses() }
    }

    /// Tells the ledger what was read.
    private func writeUses() {
        let uses = marks.take()
        do throws(SystemError) {
            try change { ledger throws(SystemError) in try ledger.append(ledger.note(uses)) }
        } catch {
            Log.write(.debug, .store, "\(uses.count) uses are not written down: \(error)")
        }
    }
}
