public import EideticCore
import Glibc

extension DiskCache {
    /// Stores bytes for a key, in place of what was there; blocks on file work.
    ///
    /// When it returns, every later read gives these bytes or a newer entry, in this process and in others. When it
    /// throws, what was there before is still there, and nothing of the new is left.
    ///
    /// - Parameters:
    ///   - bytes: Any bytes, also none.
    ///   - key: From 1 to 65,536 bytes of UTF-8.
    ///   - metadata: Stored beside the bytes.
    /// - Throws: `invalidArgument` for a key that is empty or too long, `limitExceeded` for an entry that is larger
    ///   than half of the limit or than 4 GiB, `diskFull`, `permissionDenied`, `fileFailure`, `cancelled` where the
    ///   time in the background is used up.
    public func write(
        _ bytes: [UInt8],
        for key: String,
        metadata: Metadata = Metadata()
    ) throws(EideticError) {
        try workGroup.run { () throws(EideticError) in try store(bytes, for: key, metadata: metadata) }
    }

    /// Stores bytes, within a burst that the caller entered.
    func store(_ bytes: [UInt8], for key: String, metadata: Metadata) throws(EideticError) {
        guard Self.isValidKey(key) else {
            throw EideticError(.invalidArgument, message: "a key of \(key.utf8.count) bytes cannot be stored")
        }
        try checkWritable()
        let hooks = currentHooks
        hooks.willAdd?(key, bytes.count)
        try storeEncoded(bytes, for: key, metadata: metadata)
        hooks.didAdd?(key, bytes.count)
        scheduleReconciliationIfNeeded()
    }

    private func storeEncoded(_ bytes: [UInt8], for key: String, metadata: Metadata) throws(EideticError) {
        var metadata = metadata
        if metadata.storageTime.nanoseconds == 0 { metadata.storageTime = time.now }
        try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let body = UnsafeRawBufferPointer(bytes)
            let head = EntryFile.encodedFooter(for: body, key: key, metadata: metadata)
            try checkSize(body.count + head.count)
            let hash = CacheKey(key)
            let entry = limits.indexEntry(for: hash, fileSize: body.count + head.count, metadata: metadata)
            try head.withUnsafeBufferPointer { head throws(EideticError) in
                try storeRetryingWhenFull(entry: entry, body: body, footer: UnsafeRawBufferPointer(head))
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

    /// Writes a file; evicts once and tries again where the file system is full.
    private func storeRetryingWhenFull(
        entry: IndexEntry,
        body: UnsafeRawBufferPointer,
        footer head: UnsafeRawBufferPointer
    ) throws(EideticError) {
        do throws(SystemError) {
            do throws(SystemError) {
                try storeOnce(entry: entry, body: body, footer: head)
            } catch {
                guard error.errorNumber == ENOSPC || error.errorNumber == EDQUOT else { throw error }
                let size = Int(entry.size)
                let didEvict = try inTransaction { ledger throws(SystemError) in try ledger.evictOnFullDisk(for: size) }
                guard didEvict else { throw error }
                try storeOnce(entry: entry, body: body, footer: head)
            }
        } catch {
            circuitBreaker.record(error)
            throw EideticError(error)
        }
    }

    private func storeOnce(
        entry: IndexEntry,
        body: UnsafeRawBufferPointer,
        footer head: UnsafeRawBufferPointer
    ) throws(SystemError) {
        notifyWillEvict { $0.victims(toFit: $0.index.allocatedSize(forFileSize: Int(entry.size))) }
        guard configuration.isDurable || Int(entry.size) > Self.singleTransactionLimit else {
            let accesses = accessLog.drain()
            return try inTransaction { ledger throws(SystemError) in
                try ledger.put(entry, accesses: accesses) { temporary throws(SystemError) in
                    try self.writeFile(at: temporary, body: body, footer: head, key: entry.key)
                }
            }
        }
        try storeInTwoTransactions(entry: entry, body: body, footer: head)
    }

    /// A file up to this size is written within one turn at the directory, which takes some tens of microseconds.
    private static let singleTransactionLimit = 1 << 17

    /// Writes a file that takes long: others may change the directory meanwhile.
    private func storeInTwoTransactions(
        entry: IndexEntry,
        body: UnsafeRawBufferPointer,
        footer head: UnsafeRawBufferPointer
    ) throws(SystemError) {
        let accesses = accessLog.drain()
        let size = Int(entry.size)
        let writer = try inTransaction { ledger throws(SystemError) in
            try ledger.beginWrite(of: entry.key, size: size, accesses: accesses)
        }
        let temporary = layout.temporaryPath(of: entry.key, writer: writer)
        do throws(SystemError) {
            try writeFile(at: temporary, body: body, footer: head, key: entry.key)
            try inTransaction { ledger throws(SystemError) in try ledger.commitWrite(writer, of: entry, from: temporary)
            }
        } catch {
            try? files.unlink(temporary)
            abandonWrite(writer)
            throw error
        }
    }

    /// Gives the room of a write that failed back, where need be with the next change only.
    private func abandonWrite(_ writer: UInt64) {
        if (try? inTransaction { $0.abandonWrite(writer) }) == nil { ledger.withLock { $0.abandonWriteLater(writer) } }
    }

    private func writeFile(
        at path: String,
        body: UnsafeRawBufferPointer,
        footer head: UnsafeRawBufferPointer,
        key: CacheKey
    ) throws(SystemError) {
        let file = try createFile(at: path, for: key)
        try files.write(body, followedBy: head, to: file)
        if configuration.isDurable { try files.synchronizeData(file) }
    }

    /// Creates a file, and its folder where that is not there.
    private func createFile(at path: String, for key: CacheKey) throws(SystemError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        do throws(SystemError) {
            return try files.open(path, flags: flags)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            try files.makeDirectories(layout.shardPath(of: key))
            return try files.open(path, flags: flags)
        }
    }
}
