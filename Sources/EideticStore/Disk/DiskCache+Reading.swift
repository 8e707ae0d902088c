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
        if case .entry(let entry) = try lookUp(key, allowingExpired: allowingExpired) { return entry }
        return nil
    }

    /// What a look finds, and why it finds nothing.
    package enum LookupResult: Sendable, Hashable {
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
    package func lookUp(_ key: String, allowingExpired: Bool = false) throws(EideticError) -> LookupResult {
        guard Self.isValidKey(key) else { return .absent }
        let result = try lookUpOwnEntry(key, allowingExpired: allowingExpired)
        if case .entry = result { return result }
        for bundle in configuration.bundles {
            guard let bytes = try bundle.read(key, using: files) else { continue }
            return .entry(Entry(key: key, bytes: bytes, metadata: Metadata()))
        }
        return result
    }

    private func lookUpOwnEntry(_ key: String, allowingExpired: Bool) throws(EideticError) -> LookupResult {
        let hash = CacheKey(key)
        do throws(SystemError) {
            let path = layout.path(of: hash)
            guard var file = try reader.contents(of: path, includingModificationTime: expiresAfterAccess) else {
                return .absent
            }
            switch verifiedEntry(in: &file, key: key, hash: hash) {
            case .failure(let flaw): return .damaged(flaw.description)
            case .success(let found):
                if !allowingExpired, !isFresh(found, hash: hash) { return .expired }
                recordAccess(to: hash)
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
        for bundle in configuration.bundles where try bundle.path(for: key, using: files) != nil { return true }
        return false
    }

    /// What is known of an entry, without reading its bytes; blocks on file work.
    ///
    /// Gives `nil` where there is no such entry; one that is too old is given, and says so.
    public func info(for key: String) throws(EideticError) -> EntryInfo? {
        guard Self.isValidKey(key) else { return nil }
        let path = path(for: key)
        do throws(SystemError) {
            guard case .success(let heading)? = try reader.summary(of: path) else { return nil }
            guard heading.head.key.utf8.elementsEqual(key.utf8) else { return nil }
            return info(from: heading, path: path)
        } catch {
            throw EideticError(error)
        }
    }

    func info(from heading: EntryReader.EntrySummary, path: String) -> EntryInfo {
        EntryInfo(
            key: heading.head.key,
            path: path,
            size: ByteCount(heading.head.bodySize),
            allocatedSize: ByteCount(heading.status.allocatedSize),
            metadata: heading.head.metadata,
            isExpired: limits.isExpired(heading.head.metadata, modified: heading.status.modificationTime, at: time.now)
        )
    }

    /// An entry, and the time of modification of the file that it was read from, where its age counts from that.
    private struct VerifiedEntry {
        let entry: Entry
        let modified: Timestamp?
    }

    /// Whether ages count from the latest use, which the file's time of modification tells.
    private var expiresAfterAccess: Bool { configuration.ageBasis == .access }

    private func verifiedEntry(
        in file: inout EntryReader.LoadedFile,
        key: String,
        hash: CacheKey
    ) -> Result<VerifiedEntry, EntryFile.FormatError> {
        do throws(EntryFile.FormatError) {
            return .success(VerifiedEntry(entry: try file.extractEntry(expecting: key), modified: file.modified))
        } catch {
            return recoveredEntry(hash: hash, key: key, after: error).map { .success($0) } ?? .failure(error)
        }
    }

    /// Looks again at a file that did not verify, with nobody else at the directory.
    ///
    /// Its head may have been under way, or been cut off by a kill, or another file may have taken its place. What is
    /// damaged still is removed.
    private func recoveredEntry(hash: CacheKey, key: String, after flaw: EntryFile.FormatError) -> VerifiedEntry? {
        if configuration.isReadOnly { return nil }
        let path = layout.path(of: hash)
        let found = try? inTransaction { ledger throws(SystemError) -> VerifiedEntry? in
            if try ledger.reader.repair(path),
                var file = try ledger.reader.contents(of: path, includingModificationTime: self.expiresAfterAccess),
                let entry = try? file.extractEntry(expecting: key)
            {
                try ledger.reconcile(hash)
                return VerifiedEntry(entry: entry, modified: file.modified)
            }
            Log.write(.warning, category: .store, message: "\(path) is dropped: \(flaw)")
            _ = try ledger.remove(hash)
            return nil
        }
        return found ?? nil
    }

    /// Whether an entry is young enough to be served; where its age counts from its use, this is one.
    private func isFresh(_ found: VerifiedEntry, hash key: CacheKey) -> Bool {
        let (now, metadata) = (time.now, found.entry.metadata)
        let accessTime = found.modified ?? metadata.storageTime
        if limits.isExpired(metadata, modified: accessTime, at: now) { return false }
        if expiresAfterAccess, metadata.expirationTime == nil, !configuration.isReadOnly,
            accessTime + .seconds(1) <= now
        {
            try? files.setModificationTime(of: layout.path(of: key), to: now)
        }
        return true
    }

    private func recordAccess(to key: CacheKey) {
        guard accessLog.record(key), !configuration.isReadOnly else { return }
        pool.enqueue(in: JobContext(priority: .low)) { [weak self] in self?.flushAccesses() }
    }

    /// Tells the ledger what was read.
    private func flushAccesses() {
        let accesses = accessLog.drain()
        do throws(SystemError) {
            try inTransaction { ledger throws(SystemError) in try ledger.append(ledger.recordAccesses(accesses)) }
        } catch {
            Log.write(.debug, category: .store, message: "\(accesses.count) uses are not written down: \(error)")
        }
    }
}
