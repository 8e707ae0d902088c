public import EideticCore
import Glibc

extension DiskCache {
    /// Stores bytes for a key, and replaces an existing entry.
    ///
    /// After it returns, every read finds these bytes or a newer entry, in this process and in others. After it throws,
    /// the previous entry is unchanged. Awaiting each write provides sufficient back-pressure.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; may be empty.
    ///   - key: A key of 1 to 65,536 bytes of UTF-8.
    ///   - metadata: The metadata to store with the bytes.
    /// - Throws: `invalidArgument` for an empty or too long key, `limitExceeded` for an entry larger than half of the
    ///   size limit or than 4 GiB, `diskFull`, `permissionDenied`, `fileFailure`, or `cancelled` if the task is
    ///   cancelled before the write starts or the background time has expired.
    nonisolated(nonsending) public func insert(
        _ bytes: [UInt8],
        for key: String,
        metadata: Metadata = Metadata()
    ) async throws(EideticError) {
        try await insert(bytes, for: key, metadata: metadata, within: try beginWork())
    }

    /// Stores bytes for a key as a part of work that was announced, and ends that.
    ///
    /// `checksum` is that of the bytes, if it is known.
    nonisolated(nonsending) package func insert(
        _ bytes: [UInt8],
        checksum: UInt64? = nil,
        for key: String,
        metadata: Metadata,
        within work: BackgroundWork
    ) async throws(EideticError) {
        try await perform(within: work) { () throws(EideticError) in
            try self.store(bytes, checksum: checksum, for: key, metadata: metadata)
        }
    }
}

// MARK: Storing
extension DiskCache {
    /// An entry ready to be written: its index entry, and the two parts of its file.
    private struct EncodedEntry {
        let entry: IndexEntry
        let body: UnsafeRawBufferPointer
        let footer: UnsafeRawBufferPointer

        var key: CacheKey { entry.key }
        var fileSize: Int { Int(entry.size) }
    }

    /// Stores bytes and calls the hooks.
    ///
    /// The caller has begun the work.
    func store(
        _ bytes: [UInt8],
        checksum: UInt64? = nil,
        for key: String,
        metadata: Metadata
    ) throws(EideticError) {
        guard Self.isValidKey(key) else {
            throw EideticError(
                .invalidArgument,
                message: "a key has 1 to \(EntryFile.keySizeLimit) bytes, not \(key.utf8.count)"
            )
        }
        try checkWritable()
        let storedKey = try storedKeyForWriting(key)
        let hooks = currentHooks
        hooks.willAdd?(storedKey, bytes.count)
        var metadata = metadata
        if metadata.storageTime.nanoseconds == 0 { metadata.storageTime = time.now }
        try encodeAndStore(bytes, checksum: checksum, for: storedKey, metadata: metadata)
        if metadata.kind == .original { insertIntoTiers(bytes, for: key, metadata: metadata) }
        hooks.didAdd?(storedKey, bytes.count)
        scheduleReconciliationIfNeeded()
    }

    private func encodeAndStore(
        _ bytes: [UInt8],
        checksum: UInt64?,
        for key: String,
        metadata: Metadata
    ) throws(EideticError) {
        try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let body = UnsafeRawBufferPointer(bytes)
            let footer = EntryFile.encodedFooter(for: body, checksum: checksum, key: key, metadata: metadata)
            let size = body.count + footer.count
            try checkSize(size)
            let entry = limits.indexEntry(for: CacheKey(key), fileSize: size, metadata: metadata)
            try footer.withUnsafeBufferPointer { footer throws(EideticError) in
                try store(EncodedEntry(entry: entry, body: body, footer: UnsafeRawBufferPointer(footer)))
            }
        }
    }

    private func checkSize(_ size: Int) throws(EideticError) {
        guard size > min(limits.totalSize / 2, EntryFile.sizeLimit) else { return }
        let limit = ByteCount(limits.totalSize)
        throw EideticError(
            .limitExceeded,
            message: "an entry of \(ByteCount(size)) is too large for a cache of \(limit)"
        )
    }

    /// Writes an entry's file; evicts and tries once more if the file system is full.
    private func store(_ entry: EncodedEntry) throws(EideticError) {
        do throws(SystemError) {
            do throws(SystemError) {
                try attemptToStore(entry)
            } catch {
                guard error.errorNumber == ENOSPC || error.errorNumber == EDQUOT else { throw error }
                let didEvict = try inTransaction { ledger throws(SystemError) in
                    try ledger.evictOnFullDisk(for: entry.fileSize)
                }
                guard didEvict else { throw error }
                try attemptToStore(entry)
            }
        } catch {
            circuitBreaker.record(error)
            throw EideticError(error)
        }
    }
}

// MARK: Writing the file
extension DiskCache {
    /// The largest file that is written within one transaction, which takes tens of microseconds.
    private static let singleTransactionLimit = 1 << 17

    private func attemptToStore(_ entry: EncodedEntry) throws(SystemError) {
        notifyWillEvict { $0.victims(toFit: $0.index.allocatedSize(forFileSize: entry.fileSize)) }
        guard configuration.isDurable || entry.fileSize > Self.singleTransactionLimit else {
            let accesses = accessLog.drain()
            return try inTransaction { ledger throws(SystemError) in
                try ledger.put(entry.entry, accesses: accesses) { temporaryPath throws(SystemError) in
                    try self.writeFile(at: temporaryPath, entry: entry)
                }
            }
        }
        try storeInTwoTransactions(entry)
    }

    /// Writes a large file between two transactions, so that other processes can change the directory meanwhile.
    private func storeInTwoTransactions(_ entry: EncodedEntry) throws(SystemError) {
        let accesses = accessLog.drain()
        let writer = try inTransaction { ledger throws(SystemError) in
            try ledger.beginWrite(of: entry.key, size: entry.fileSize, accesses: accesses)
        }
        let temporaryPath = layout.temporaryPath(of: entry.key, writer: writer)
        do throws(SystemError) {
            try writeFile(at: temporaryPath, entry: entry)
            try inTransaction { ledger throws(SystemError) in
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
        if (try? inTransaction { $0.abandonWrite(writer) }) == nil {
            ledger.withLock { $0.abandonWriteLater(writer) }
        }
    }

    private func writeFile(at path: String, entry: EncodedEntry) throws(SystemError) {
        let file = try createFile(at: path, for: entry.key)
        try files.write(entry.body, followedBy: entry.footer, to: file)
        if configuration.isDurable { try files.synchronizeData(file) }
    }

    /// Creates a file, and its shard's directory if that does not exist.
    private func createFile(at path: String, for key: CacheKey) throws(SystemError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        do throws(SystemError) {
            return try files.open(path, flags: flags)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            try DiskDirectory(layout: layout, files: files).makeShard(of: key)
            return try files.open(path, flags: flags)
        }
    }
}
