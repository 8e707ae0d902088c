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
        try burst.run { () throws(EideticError) in try store(bytes, for: key, metadata) }
    }

    /// Stores bytes, within a burst that the caller entered.
    func store(_ bytes: [UInt8], for key: String, _ metadata: Metadata) throws(EideticError) {
        guard Self.isKey(key) else {
            throw EideticError(.invalidArgument, "a key of \(key.utf8.count) bytes cannot be stored")
        }
        try checkWritable()
        let hooks = currentHooks
        hooks.willAdd?(key, bytes.count)
        try store(bytes, key, metadata)
        hooks.didAdd?(key, bytes.count)
        startCheckIfDoubtful()
    }

    private func store(_ bytes: [UInt8], _ key: String, _ metadata: Metadata) throws(EideticError) {
        var metadata = metadata
        if metadata.stored.nanoseconds == 0 { metadata.stored = time.now }
        try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let body = UnsafeRawBufferPointer(bytes)
            let head = EntryFile.head(of: body, key: key, metadata)
            try checkSize(body.count + head.count)
            let hash = CacheKey(key)
            let entry = limits.indexEntry(hash, fileSize: body.count + head.count, metadata)
            try head.withUnsafeBufferPointer { head throws(EideticError) in
                try store(entry, body, UnsafeRawBufferPointer(head))
            }
        }
    }

    private func checkSize(_ size: Int) throws(EideticError) {
        guard size > min(limits.total / 2, EntryFile.sizeLimit) else { return }
        let limit = ByteCount(limits.total)
        throw EideticError(.limitExceeded, "an entry of \(ByteCount(size)) is too large for a cache of \(limit)")
    }

    /// Writes a file; evicts once and tries again where the file system is full.
    private func store(
        _ entry: IndexEntry,
        _ body: UnsafeRawBufferPointer,
        _ head: UnsafeRawBufferPointer
    ) throws(EideticError) {
        do throws(SystemError) {
            do throws(SystemError) {
                try attempt(entry, body, head)
            } catch {
                guard error.number == ENOSPC || error.number == EDQUOT else { throw error }
                let size = Int(entry.size)
                let madeRoom = try change { ledger throws(SystemError) in try ledger.makeRoomOnFullDisk(for: size) }
                guard madeRoom else { throw error }
                try attempt(entry, body, head)
            }
        } catch {
            health.note(error)
            throw EideticError(error)
        }
    }

    private func attempt(
        _ entry: IndexEntry,
        _ body: UnsafeRawBufferPointer,
        _ head: UnsafeRawBufferPointer
    ) throws(SystemError) {
        announce { $0.victims(for: $0.index.allocation(Int(entry.size))) }
        guard configuration.isDurable || Int(entry.size) > Self.shortWrite else {
            let uses = marks.take()
            return try change { ledger throws(SystemError) in
                try ledger.put(entry, uses: uses) { temporary throws(SystemError) in
                    try self.writeFile(temporary, body, head, entry.key)
                }
            }
        }
        try attemptInTwoTurns(entry, body, head)
    }

    /// A file up to this size is written within one turn at the directory, which takes some tens of microseconds.
    private static let shortWrite = 1 << 17

    /// Writes a file that takes long: others may change the directory meanwhile.
    private func attemptInTwoTurns(
        _ entry: IndexEntry,
        _ body: UnsafeRawBufferPointer,
        _ head: UnsafeRawBufferPointer
    ) throws(SystemError) {
        let uses = marks.take()
        let size = Int(entry.size)
        let writer = try change { ledger throws(SystemError) in try ledger.begin(entry.key, size: size, uses: uses) }
        let temporary = layout.temporary(of: entry.key, writer: writer)
        do throws(SystemError) {
            try writeFile(temporary, body, head, entry.key)
            try change { ledger throws(SystemError) in try ledger.commit(writer, entry, from: temporary) }
        } catch {
            try? files.unlink(temporary)
            giveUp(writer)
            throw error
        }
    }

    /// Gives the room of a write that failed back, where need be with the next change only.
    private func giveUp(_ writer: UInt64) {
        if (try? change { $0.abandon(writer) }) == nil { ledger.withLock { $0.abandonLater(writer) } }
    }

    private func writeFile(
        _ path: String,
        _ body: UnsafeRawBufferPointer,
        _ head: UnsafeRawBufferPointer,
        _ key: CacheKey
    ) throws(SystemError) {
        let file = try create(path, in: key)
        try files.write(body, head, to: file)
        if configuration.isDurable { try files.synchronizeData(file) }
    }

    /// Creates a file, and its folder where that is not there.
    private func create(_ path: String, in key: CacheKey) throws(SystemError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        do throws(SystemError) {
            return try files.open(path, flags)
        } catch {
            guard error.number == ENOENT else { throw error }
            try files.makeDirectories(layout.shard(of: key))
            return try files.open(path, flags)
        }
    }
}
