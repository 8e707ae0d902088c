package import EideticCore

/// The reads of a disk cache; they block, except for those whose names begin with `load`.
package struct EntryLookup: Sendable {
    /// The result of a lookup, with the reason for a miss.
    package enum Outcome: Sendable, Hashable {
        case entry(DiskCache.Entry)
        case absent
        case expired
        /// The entry's file was damaged, as described.
        ///
        /// The file was removed, unless the cache is read-only or the removal failed.
        case damaged(String)
    }

    /// The description of an entry from which others were computed; those are used only as long as its bytes are known.
    package struct Original: Sendable {
        /// The checksum of the bytes.
        package let checksum: UInt64
        package let metadata: DiskCache.Metadata
        package let isExpired: Bool

        /// Returns the time at which bytes with this checksum take the place of the known ones.
        package func replacementTime(by checksum: UInt64, at now: Timestamp) -> Timestamp? {
            checksum == self.checksum ? metadata.response.replacementTime : now
        }
    }

    /// An entry that was found, and its file's modification time if ages count from accesses.
    private struct VerifiedEntry {
        let entry: DiskCache.Entry
        let modificationTime: Timestamp?
    }

    let directory: SharedDirectory
    let accesses: AccessLog

    /// Finds an entry in the directory, or else in the bundles behind it.
    package func find(_ key: String, allowingExpired: Bool = false) throws(EideticError) -> Outcome {
        guard EntryKey.isValid(key) else { return .absent }
        try directory.checkOpened()
        let storedKey = directory.key.keyForReading(key)
        let result = try findInDirectory(storedKey, allowingExpired: allowingExpired)
        // The caller knows the entry by its own key.
        if case .entry(let entry) = result {
            return .entry(DiskCache.Entry(key: key, bytes: entry.bytes, metadata: entry.metadata))
        }
        for bundle in directory.configuration.bundles {
            guard let bytes = try bundle.read(key, using: directory.files) else { continue }
            return .entry(DiskCache.Entry(key: key, bytes: bytes))
        }
        return result
    }

    /// Reads an entry; see ``DiskCache/read(_:allowingExpired:)``.
    package func read(_ key: String, allowingExpired: Bool = false) throws(EideticError) -> DiskCache.Entry? {
        guard case .entry(let entry) = try find(key, allowingExpired: allowingExpired) else { return nil }
        return entry
    }

    /// Returns `true` if `read` would find an entry; see ``DiskCache/contains(_:)``.
    package func contains(_ key: String) throws(EideticError) -> Bool {
        if let info = try info(for: key), !info.isExpired { return true }
        for bundle in directory.configuration.bundles where try bundle.path(for: key, using: directory.files) != nil {
            return true
        }
        return false
    }

    /// Returns the description of an entry, also of an expired one, without reading its bytes.
    package func info(for key: String) throws(EideticError) -> DiskCache.EntryInfo? {
        guard EntryKey.isValid(key) else { return nil }
        try directory.checkOpened()
        let key = directory.key.keyForReading(key)
        let path = directory.layout.path(of: CacheKey(key))
        do throws(SystemError) {
            guard case .success(let summary)? = try directory.reader.summary(of: path),
                summary.footer.key.utf8.elementsEqual(key.utf8)
            else { return nil }
            return DiskCache.EntryInfo(summary, path: path, in: directory)
        } catch {
            throw EideticError(error)
        }
    }

    /// Returns the description of an original, also of an expired one.
    package func original(for key: String) throws(EideticError) -> Original? {
        guard let info = try info(for: key) else { return nil }
        return Original(checksum: info.bodyChecksum, metadata: info.metadata, isExpired: info.isExpired)
    }
}

// MARK: On threads of the cache
extension EntryLookup {
    /// An entry that was computed from another one, and what is known of that.
    package typealias DerivedEntry = (entry: DiskCache.Entry, original: Original?)

    /// Runs several reads on a thread of the cache.
    package func load<Value: Sendable>(
        _ body: @escaping @Sendable (EntryLookup) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await directory.work.pool.run { _ throws(EideticError) in try body(self) }
    }

    package func loadOriginal(for key: String) async throws(EideticError) -> Original? {
        try await directory.work.pool.run { _ throws(EideticError) in try original(for: key) }
    }

    /// Reads an entry of the kind `derived`, and the description of its original without the bytes.
    package func loadDerivedEntry(
        for key: String,
        from original: String,
        context: JobContext
    ) async throws(EideticError) -> DerivedEntry? {
        try await directory.work.pool.run(in: context) { _ throws(EideticError) in
            guard let entry = try read(key), entry.metadata.kind == .derived else { return nil }
            let known = try self.original(for: original)
            // Without it the derived entry could not be used any more.
            if let known {
                let hash = CacheKey(directory.key.keyForReading(original))
                accesses.record(hash)
                accesses.renewAge(of: hash, with: known.metadata)
            }
            return (entry, known)
        }
    }

    /// Finds an entry, or else the part of a resource whose download was interrupted.
    nonisolated(nonsending) package func loadWithPart(
        _ key: String,
        context: JobContext
    ) async throws(EideticError) -> (outcome: Outcome, part: DiskCache.Entry?) {
        try await directory.work.pool.run(in: context) { _ throws(EideticError) in
            let outcome = try find(key)
            if case .entry = outcome { return (outcome, nil) }
            // No bundle has parts.
            let partKey = directory.key.keyForReading(EntryKey.part(of: key))
            guard case .entry(let part) = try findInDirectory(partKey, allowingExpired: false) else {
                return (outcome, nil)
            }
            return (outcome, part)
        }
    }
}

// MARK: Verification
extension EntryLookup {
    private func findInDirectory(_ key: String, allowingExpired: Bool) throws(EideticError) -> Outcome {
        let hash = CacheKey(key)
        do throws(SystemError) {
            guard var file = try contents(of: hash, by: directory.reader) else { return .absent }
            switch verifiedEntry(in: &file, key: key, hash: hash) {
            case .failure(.otherVersion): return .absent
            case .failure(let error): return .damaged(error.description)
            case .success(let found):
                if !allowingExpired, !isFresh(found, hash: hash) { return .expired }
                accesses.record(hash)
                return .entry(found.entry)
            }
        } catch {
            throw EideticError(error)
        }
    }

    private func contents(of hash: CacheKey, by reader: EntryReader) throws(SystemError) -> EntryReader.LoadedFile? {
        try reader.contents(
            of: directory.layout.path(of: hash),
            includingModificationTime: directory.ages.basis == .access
        )
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
        if directory.configuration.isReadOnly { return nil }
        let path = directory.layout.path(of: hash)
        let found = try? directory.coveredTransaction { ledger throws(SystemError) -> VerifiedEntry? in
            if try ledger.reader.repair(path),
                var file = try contents(of: hash, by: ledger.reader),
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

    /// Returns `true` if an entry has not expired, and lets its age begin anew if that counts from accesses.
    private func isFresh(_ found: VerifiedEntry, hash: CacheKey) -> Bool {
        let now = directory.time.now
        let accessTime = found.modificationTime ?? found.entry.metadata.storageTime
        if directory.ages.isExpired(found.entry.metadata, modified: accessTime, at: now) { return false }
        if accessTime + .seconds(1) <= now { accesses.renewAge(of: hash, with: found.entry.metadata) }
        return true
    }
}
