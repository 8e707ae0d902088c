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
    public func refresh(_ entry: Entry, with metadata: Metadata) throws(EideticError) -> Bool {
        try burst.run { () throws(EideticError) in try refreshed(entry, metadata) }
    }

    /// Gives an entry other metadata on a thread of the cache; see `refresh`.
    @discardableResult
    public func refreshValue(_ entry: Entry, with metadata: Metadata) async throws(EideticError) -> Bool {
        try await queued { () throws(EideticError) in try self.refreshed(entry, metadata) }
    }

    private func refreshed(_ entry: Entry, _ metadata: Metadata) throws(EideticError) -> Bool {
        var metadata = metadata
        if metadata.stored.nanoseconds == 0 { metadata.stored = time.now }
        if configuration.expiry == .creation, metadata.expires == nil {
            // Not later than for an entry of now: the clock may have been wrong when it was written.
            let expiry = limits.expiry(of: entry.metadata, modified: entry.metadata.stored)
            metadata.expires = min(expiry, metadata.stored + limits.maximumAge)
        }
        let (key, new) = (CacheKey(entry.key), metadata)
        let outcome = try changePublicly { ledger throws(SystemError) in
            try ledger.refresh(key, entry, new, isDurable: self.configuration.isDurable)
        }
        guard outcome == .isFull else { return outcome == .done }
        try store(entry.bytes, for: entry.key, metadata)
        return true
    }
}

extension Ledger {
    /// How changing metadata ended.
    enum Refresh { case done, isAnother, isFull }

    /// The most bytes of old heads that a file may hold.
    private static let mostSuperseded = 1 << 14

    /// Writes another head behind the entry's own.
    fileprivate func refresh(
        _ key: CacheKey,
        _ entry: DiskCache.Entry,
        _ metadata: DiskCache.Metadata,
        isDurable: Bool
    ) throws(SystemError) -> Refresh {
        guard let file = try opened(layout.path(of: key)) else { return .isAnother }
        let status = try files.status(of: file.descriptor)
        guard status.kind == .regular, case .success(let old) = try reader.head(of: file.descriptor, size: status.size),
            old.key.utf8.elementsEqual(entry.key.utf8), old.metadata == entry.metadata
        else { return .isAnother }
        let superseded = status.size - old.bodySize
        guard superseded < Self.mostSuperseded else { return .isFull }
        let head = EntryFile.Head(
            key: old.key,
            metadata: metadata,
            bodySize: old.bodySize,
            bodyChecksum: old.bodyChecksum
        )
        let bytes = head.bytes(superseded: superseded)
        guard status.size + bytes.count <= EntryFile.sizeLimit else { return .isFull }
        var new = limits.indexEntry(key, fileSize: status.size + bytes.count, metadata)
        // The bytes are those that were used.
        if let known = index.entry(key) { new.uses = known.uses }
        return try extend(file, status, bytes, new, isDurable: isDurable) ? .done : .isAnother
    }

    private func opened(_ path: String) throws(SystemError) -> DirectoryLock.OpenFile? {
        do throws(SystemError) {
            return DirectoryLock.OpenFile(try files.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK))
        } catch {
            guard EntryReader.absence.contains(error.number) else { throw error }
            return nil
        }
    }

    /// Appends to an entry's file; false where making room for it has cost the entry itself.
    private func extend(
        _ file: DirectoryLock.OpenFile,
        _ status: FileStatus,
        _ bytes: [UInt8],
        _ new: IndexEntry,
        isDurable: Bool
    ) throws(SystemError) -> Bool {
        let writer = try takeRoom(index.allocation(Int(new.size)) - index.allocation(status.size))
        guard try files.status(of: file.descriptor).linkCount > 0 else { return false }
        let old = index.entry(new.key)
        try append([LedgerRecord(.put, writer: writer, new)])
        do throws(SystemError) {
            try files.write(bytes, to: file.descriptor, at: status.size)
            if isDurable { try files.synchronizeData(file.descriptor) }
        } catch {
            // Where this fails too, the next reader finds the head before.
            try? files.truncate(file.descriptor, to: status.size)
            if let old { appendOrRewrite([LedgerRecord(.put, old)]) } else { needsRewrite = true }
            throw error
        }
        index.put(new)
        return true
    }
}
