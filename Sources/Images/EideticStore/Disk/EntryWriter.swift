package import EideticCore
import Glibc

/// The writes of a disk cache; the caller has begun the work that covers them.
package struct EntryWriter: Sendable {
    /// The largest file that is written within one transaction, which takes tens of microseconds.
    private static let singleTransactionLimit = 1 << 17

    /// An entry ready to be written: its index entry, and the two parts of its file.
    private struct EncodedEntry {
        let entry: IndexEntry
        let body: UnsafeRawBufferPointer
        let footer: UnsafeRawBufferPointer

        var key: CacheKey { entry.key }
        var fileSize: Int { Int(entry.size) }
    }

    let directory: SharedDirectory
    let accesses: AccessLog

    private var files: FileSystem { directory.files }
    private var isDurable: Bool { directory.configuration.isDurable }

    /// Stores bytes and calls the hooks; `checksum` is that of the bytes, if it is known.
    func store(
        _ bytes: [UInt8],
        checksum: UInt64? = nil,
        for key: String,
        metadata: DiskCache.Metadata
    ) throws(EideticError) {
        guard EntryKey.isValid(key) else {
            throw EideticError(
                .invalidArgument,
                message: "a key has 1 to \(EntryFile.keySizeLimit) bytes, not \(key.utf8.count)"
            )
        }
        try directory.checkWritable()
        let storedKey = try directory.key.keyForWriting(key)
        let hooks = directory.hooks
        hooks.willAdd?(storedKey, bytes.count)
        var metadata = metadata
        if metadata.storageTime.nanoseconds == 0 { metadata.storageTime = directory.time.now }
        try encodeAndStore(bytes, checksum: checksum, for: storedKey, metadata: metadata)
        hooks.didAdd?(storedKey, bytes.count)
        directory.scheduleReconciliationIfNeeded()
    }

    /// Replaces the metadata of an entry; returns `false` if it was removed or replaced since it was read.
    @discardableResult
    package func replaceMetadata(
        of entry: DiskCache.Entry,
        with metadata: DiskCache.Metadata
    ) throws(EideticError) -> Bool {
        let key = directory.key.keyForReading(entry.key)
        let stored = DiskCache.Entry(key: key, bytes: entry.bytes, metadata: entry.metadata)
        let metadata = directory.ages.replacement(metadata, for: entry.metadata, at: directory.time.now)
        let outcome = try directory.writeTransaction { ledger throws(SystemError) in
            try ledger.replaceMetadata(of: stored, with: metadata, isDurable: isDurable)
        }
        guard outcome == .fileFull else { return outcome == .done }
        try store(stored.bytes, for: key, metadata: metadata)
        return true
    }

    private func encodeAndStore(
        _ bytes: [UInt8],
        checksum: UInt64?,
        for key: String,
        metadata: DiskCache.Metadata
    ) throws(EideticError) {
        try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let body = UnsafeRawBufferPointer(bytes)
            let footer = EntryFile.encodedFooter(for: body, checksum: checksum, key: key, metadata: metadata)
            let size = body.count + footer.count
            let limits = directory.limits
            guard size <= min(limits.totalSize / 2, EntryFile.sizeLimit) else {
                throw EideticError(
                    .limitExceeded,
                    message: "an entry of \(ByteCount(size)) is too large for a cache of \(ByteCount(limits.totalSize))"
                )
            }
            let entry = limits.indexEntry(for: CacheKey(key), fileSize: size, metadata: metadata)
            try footer.withUnsafeBufferPointer { footer throws(EideticError) in
                try store(EncodedEntry(entry: entry, body: body, footer: UnsafeRawBufferPointer(footer)))
            }
        }
    }

    /// Writes an entry's file; evicts and tries once more if the file system is full.
    private func store(_ entry: EncodedEntry) throws(EideticError) {
        try directory.recordingFailures { () throws(SystemError) in
            do throws(SystemError) {
                try attemptToStore(entry)
            } catch {
                guard error.errorNumber == ENOSPC || error.errorNumber == EDQUOT else { throw error }
                let didEvict = try directory.transaction { ledger throws(SystemError) in
                    try ledger.evictOnFullDisk(for: entry.fileSize)
                }
                guard didEvict else { throw error }
                try attemptToStore(entry)
            }
        }
    }
}

// MARK: Writing the file
extension EntryWriter {
    private func attemptToStore(_ entry: EncodedEntry) throws(SystemError) {
        directory.notifyWillEvict { $0.victims(toFit: $0.index.allocatedSize(forFileSize: entry.fileSize)) }
        let accesses = accesses.drain()
        guard isDurable || entry.fileSize > Self.singleTransactionLimit else {
            return try directory.transaction { ledger throws(SystemError) in
                try ledger.put(entry.entry, accesses: accesses) { temporaryPath throws(SystemError) in
                    try writeFile(at: temporaryPath, entry: entry)
                }
            }
        }
        try storeInTwoTransactions(entry, accesses: accesses)
    }

    /// Writes a large file between two transactions, so that other processes can change the directory meanwhile.
    private func storeInTwoTransactions(_ entry: EncodedEntry, accesses: [CacheKey]) throws(SystemError) {
        let writer = try directory.transaction { ledger throws(SystemError) in
            try ledger.beginWrite(of: entry.key, size: entry.fileSize, accesses: accesses)
        }
        let temporaryPath = directory.layout.temporaryPath(of: entry.key, writer: writer)
        do throws(SystemError) {
            try writeFile(at: temporaryPath, entry: entry)
            try directory.transaction { ledger throws(SystemError) in
                try ledger.commitWrite(writer, of: entry.entry, from: temporaryPath)
            }
        } catch {
            try? files.unlink(temporaryPath)
            abandonWrite(writer)
            throw error
        }
    }

    /// Releases the reservation of a failed write; if the ledger cannot be written now, the next change records it.
    private func abandonWrite(_ writer: UInt64) {
        if (try? directory.transaction { $0.abandonWrite(writer) }) == nil {
            directory.ledger.withLock { $0.abandonWriteLater(writer) }
        }
    }

    private func writeFile(at path: String, entry: EncodedEntry) throws(SystemError) {
        let file = try createFile(at: path, for: entry.key)
        try files.write(entry.body, followedBy: entry.footer, to: file)
        if isDurable { try files.synchronizeData(file) }
    }

    /// Creates a file, and its shard's directory if that does not exist.
    private func createFile(at path: String, for key: CacheKey) throws(SystemError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        do throws(SystemError) {
            return try files.open(path, flags: flags)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            try DiskDirectory(layout: directory.layout, files: files).makeShard(of: key)
            return try files.open(path, flags: flags)
        }
    }
}
