public import EideticCore
import Glibc

extension DiskCache {
    /// Gives an entry other metadata and leaves its bytes alone, as after an answer 304; blocks on file work.
    ///
    /// A head is written behind the old one. Killed at any instant, the entry has its old metadata or the new.
    ///
    /// - Parameters:
    ///   - entry: What was read; only an entry that is still this one is changed.
    ///   - metadata: What stands beside the bytes from now on; its time of the write begins anew where it is zero.
    /// - Returns: False where there is no such entry any more, or another has taken its place.
    /// - Throws: What `write` throws.
    /// - Complexity: O(*n*) in the metadata; in the bytes only each time that a hundred heads or so have come together.
    @discardableResult
    public func replaceMetadata(of entry: Entry, with metadata: Metadata) throws(EideticError) -> Bool {
        try workGroup.run { () throws(EideticError) in try replaceStoredMetadata(of: entry, with: metadata) }
    }

    /// Gives an entry other metadata on a thread of the cache; see `refresh`.
    @discardableResult
    public func refreshValue(_ entry: Entry, with metadata: Metadata) async throws(EideticError) -> Bool {
        try await perform { () throws(EideticError) in try self.replaceStoredMetadata(of: entry, with: metadata) }
    }

    private func replaceStoredMetadata(of entry: Entry, with metadata: Metadata) throws(EideticError) -> Bool {
        var metadata = metadata
        if metadata.storageTime.nanoseconds == 0 { metadata.storageTime = time.now }
        if configuration.ageBasis == .creation, metadata.expirationTime == nil {
            // Not later than for an entry of now: the clock may have been wrong when it was written.
            let expiry = limits.expirationTime(of: entry.metadata, modified: entry.metadata.storageTime)
            metadata.expirationTime = min(expiry, metadata.storageTime + limits.maximumAge)
        }
        let (key, new) = (CacheKey(entry.key), metadata)
        let outcome = try inWriteTransaction { ledger throws(SystemError) in
            try ledger.replaceMetadata(at: key, of: entry, with: new, isDurable: self.configuration.isDurable)
        }
        guard outcome == .fileFull else { return outcome == .done }
        try store(entry.bytes, for: entry.key, metadata: metadata)
        return true
    }
}

extension Ledger {
    /// How changing metadata ended.
    enum MetadataReplacement { case done, entryChanged, fileFull }

    /// The most bytes of old heads that a file may hold.
    private static let maximumSupersededSize = 1 << 14

    /// Writes another head behind the entry's own.
    fileprivate func replaceMetadata(
        at key: CacheKey,
        of entry: DiskCache.Entry,
        with metadata: DiskCache.Metadata,
        isDurable: Bool
    ) throws(SystemError) -> MetadataReplacement {
        guard let file = try openEntryFile(at: layout.path(of: key)) else { return .entryChanged }
        let status = try files.status(of: file.descriptor)
        guard status.kind == .regular,
            case .success(let old) = try reader.footer(of: file.descriptor, size: status.size),
            old.key.utf8.elementsEqual(entry.key.utf8), old.metadata == entry.metadata
        else { return .entryChanged }
        let supersededSize = status.size - old.bodySize
        guard supersededSize < Self.maximumSupersededSize else { return .fileFull }
        let head = EntryFile.Footer(
            key: old.key,
            metadata: metadata,
            bodySize: old.bodySize,
            bodyChecksum: old.bodyChecksum
        )
        let bytes = head.encoded(supersededSize: supersededSize)
        guard status.size + bytes.count <= EntryFile.sizeLimit else { return .fileFull }
        var new = limits.indexEntry(for: key, fileSize: status.size + bytes.count, metadata: metadata)
        // The bytes are those that were used.
        if let known = index.entry(for: key) { new.accessCount = known.accessCount }
        return try appendFooter(to: file, status: status, bytes: bytes, entry: new, isDurable: isDurable)
            ? .done : .entryChanged
    }

    private func openEntryFile(at path: String) throws(SystemError) -> DirectoryLock.OpenFile? {
        do throws(SystemError) {
            return DirectoryLock.OpenFile(try files.open(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK))
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Appends to an entry's file; false where making room for it has cost the entry itself.
    private func appendFooter(
        to file: DirectoryLock.OpenFile,
        status: FileStatus,
        bytes: [UInt8],
        entry new: IndexEntry,
        isDurable: Bool
    ) throws(SystemError) -> Bool {
        let writer = try claimWriter(
            allocating: index.allocatedSize(forFileSize: Int(new.size)) - index.allocatedSize(forFileSize: status.size)
        )
        guard try files.status(of: file.descriptor).linkCount > 0 else { return false }
        let old = index.entry(for: new.key)
        try append([LedgerRecord(.put, writer: writer, entry: new)])
        do throws(SystemError) {
            try files.write(bytes, to: file.descriptor, at: status.size)
            if isDurable { try files.synchronizeData(file.descriptor) }
        } catch {
            // Where this fails too, the next reader finds the head before.
            try? files.truncate(file.descriptor, to: status.size)
            if let old { appendOrRewrite([LedgerRecord(.put, entry: old)]) } else { needsRewrite = true }
            throw error
        }
        index.put(new)
        return true
    }
}
