public import EideticCore

extension DiskCache {
    /// Reads an entry.
    ///
    /// The file is opened, read and closed once, and all of its bytes are verified. A file that is damaged or belongs
    /// to another key is removed.
    ///
    /// - Parameters:
    ///   - key: The key; an empty one has no entry.
    ///   - allowingExpired: Whether an expired entry is returned, too, for example to revalidate it; `false` by
    ///     default.
    /// - Returns: The entry, or `nil` if there is none or it has expired.
    /// - Throws: `cancelled` if the task is cancelled before the read starts, `permissionDenied`, or `fileFailure` if
    ///   the device fails; no error for a damaged entry.
    nonisolated(nonsending) public func read(
        _ key: String,
        allowingExpired: Bool = false
    ) async throws(EideticError) -> Entry? {
        try await pool.run { _ throws(EideticError) in try self.blocking.read(key, allowingExpired: allowingExpired) }
    }

    /// Runs several reads on a thread of the cache.
    package func read<Value: Sendable>(
        with body: @escaping @Sendable (Blocking) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await pool.run { _ throws(EideticError) in try body(self.blocking) }
    }

    /// Returns `true` if `read` would find an entry.
    ///
    /// The entry's bytes are not read, so damage to them is not detected.
    nonisolated(nonsending) public func contains(_ key: String) async throws(EideticError) -> Bool {
        try await pool.run { _ throws(EideticError) in try self.blocking.contains(key) }
    }

    /// Returns the description of an entry without reading its bytes.
    ///
    /// - Returns: The description, also of an expired entry; `nil` if there is no entry.
    package func info(for key: String) async throws(EideticError) -> EntryInfo? {
        try await pool.run { _ throws(EideticError) in try self.blocking.info(for: key) }
    }

    /// The result of a lookup, with the reason for a miss.
    package enum LookupResult: Sendable, Hashable {
        case entry(Entry)
        case absent
        /// The entry has expired.
        case expired
        /// The entry's file was damaged, as described.
        ///
        /// The file was removed, unless the cache is read-only or the removal failed.
        case damaged(String)
    }
}

// MARK: Lookup
extension DiskCache {
    /// An entry that passed verification, and its file's modification time if ages count from accesses.
    private struct VerifiedEntry {
        let entry: Entry
        let modificationTime: Timestamp?
    }

    /// A Boolean value indicating whether ages count from the latest access, which is the file's modification time.
    private var expiresAfterAccess: Bool { configuration.ageBasis == .access }

    /// Finds an entry in the cache, or else in its tiers or bundles.
    func findEntry(for key: String, allowingExpired: Bool) throws(EideticError) -> LookupResult {
        guard Self.isValidKey(key) else { return .absent }
        try checkOpened()
        let storedKey = storedKeyForReading(key)
        let result = try findOwnEntry(for: storedKey, allowingExpired: allowingExpired)
        // The caller knows the entry by its own key.
        if case .entry(let entry) = result {
            return .entry(Entry(key: key, bytes: entry.bytes, metadata: entry.metadata))
        }
        return try findFurtherEntry(for: key, allowingExpired: allowingExpired) ?? result
    }

    /// Finds the part of a resource, which no tier or bundle has.
    func findPart(of key: String) throws(EideticError) -> Entry? {
        let key = storedKeyForReading(Self.partKey(of: key))
        guard case .entry(let entry) = try findOwnEntry(for: key, allowingExpired: false) else { return nil }
        return entry
    }

    private func findOwnEntry(for key: String, allowingExpired: Bool) throws(EideticError) -> LookupResult {
        let hash = CacheKey(key)
        do throws(SystemError) {
            let path = layout.path(of: hash)
            guard var file = try reader.contents(of: path, includingModificationTime: expiresAfterAccess) else {
                return .absent
            }
            switch verifiedEntry(in: &file, key: key, hash: hash) {
            case .failure(.otherVersion): return .absent
            case .failure(let error): return .damaged(error.description)
            case .success(let found):
                if !allowingExpired, !isFresh(found, hash: hash) { return .expired }
                recordAccess(to: hash)
                return .entry(found.entry)
            }
        } catch {
            throw EideticError(error)
        }
    }

    private func verifiedEntry(
        in file: inout EntryReader.LoadedFile,
        key: String,
        hash: CacheKey
    ) -> Result<VerifiedEntry, EntryFile.FormatError> {
        do throws(EntryFile.FormatError) {
            let entry = try file.extractEntry(expecting: key)
            return .success(VerifiedEntry(entry: entry, modificationTime: file.modificationTime))
        } catch {
            return recoveredEntry(for: key, hash: hash, after: error).map { .success($0) } ?? .failure(error)
        }
    }

    /// Reads a file that failed verification once more, in a transaction.
    ///
    /// The first read may have met a footer that was being written or was cut off by a kill, or a file that was being
    /// replaced. A file that is still damaged is removed.
    private func recoveredEntry(
        for key: String,
        hash: CacheKey,
        after failure: EntryFile.FormatError
    ) -> VerifiedEntry? {
        if configuration.isReadOnly { return nil }
        let path = layout.path(of: hash)
        let found = try? coveredTransaction { ledger throws(SystemError) -> VerifiedEntry? in
            if try ledger.reader.repair(path),
                var file = try ledger.reader.contents(of: path, includingModificationTime: self.expiresAfterAccess),
                let entry = try? file.extractEntry(expecting: key)
            {
                try ledger.reconcile(hash)
                return VerifiedEntry(entry: entry, modificationTime: file.modificationTime)
            }
            if case .otherVersion = failure {
                Log.write(.debug, category: .store, message: "removing \(path): \(failure)")
            } else {
                Log.write(.warning, category: .store, message: "removing damaged entry \(path): \(failure)")
            }
            _ = try ledger.remove(hash)
            return nil
        }
        return found ?? nil
    }

    /// Returns `true` if an entry has not expired.
    ///
    /// If ages count from accesses, this access is recorded.
    private func isFresh(_ found: VerifiedEntry, hash: CacheKey) -> Bool {
        let (now, metadata) = (time.now, found.entry.metadata)
        let accessTime = found.modificationTime ?? metadata.storageTime
        if limits.isExpired(metadata, modified: accessTime, at: now) { return false }
        if expiresAfterAccess, metadata.expirationTime == nil, !configuration.isReadOnly,
            accessTime + .seconds(1) <= now
        {
            recordAccessTime(now, of: hash)
        }
        return true
    }
}

// MARK: Accesses
extension DiskCache {
    /// Lets the age of an entry begin anew, if ages count from accesses: its bytes were not read, but what was made
    /// from them.
    func renewAge(of hash: CacheKey, with metadata: Metadata) {
        guard expiresAfterAccess, metadata.expirationTime == nil, !configuration.isReadOnly else { return }
        recordAccessTime(time.now, of: hash)
    }

    private func recordAccessTime(_ now: Timestamp, of hash: CacheKey) {
        guard let work = try? beginWork() else { return }
        defer { work.end() }
        if (try? work.waitUntilAdmitted()) != nil { try? files.setModificationTime(of: layout.path(of: hash), to: now) }
    }

    /// Records that an entry was used, so that it is evicted later.
    func recordAccess(to hash: CacheKey) {
        guard accessLog.record(hash), !configuration.isReadOnly else { return }
        schedule { cache, _ in cache.flushAccesses() }
    }

    /// Applies the access log to the ledger.
    private func flushAccesses() {
        let accesses = accessLog.drain()
        do throws(SystemError) {
            try inTransaction { ledger throws(SystemError) in
                try ledger.append(ledger.recordAccesses(accesses))
            }
        } catch {
            Log.write(.debug, category: .store, message: "\(accesses.count) accesses are not recorded: \(error)")
        }
    }
}
