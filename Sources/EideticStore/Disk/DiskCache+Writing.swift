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
    ///   than an eighth of the limit, `diskFull`, `permissionDenied`, `fileFailure`.
    public func write(
        _ bytes: [UInt8],
        for key: String,
        metadata: Metadata = Metadata()
    ) throws(EideticError) {
        guard !key.isEmpty, key.utf8.count <= EntryFile.keyLimit else {
            throw EideticError(.invalidArgument, "a key of \(key.utf8.count) bytes cannot be stored")
        }
        var metadata = metadata
        if metadata.stored.nanoseconds == 0 { metadata.stored = time.now }
        let hash = CacheKey(key)
        try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let body = UnsafeRawBufferPointer(bytes)
            let head = EntryFile.head(of: body, key: key, metadata)
            try head.withUnsafeBufferPointer { head throws(EideticError) in
                try store(body, UnsafeRawBufferPointer(head), hash)
            }
        }
    }

    private func store(
        _ body: UnsafeRawBufferPointer,
        _ head: UnsafeRawBufferPointer,
        _ key: CacheKey
    ) throws(EideticError) {
        let temporary = layout.temporary(of: key, writer: UInt64.random(in: 0...UInt64.max))
        do throws(SystemError) {
            try writeFile(temporary, body, head, key)
            try files.rename(temporary, to: layout.path(of: key))
        } catch {
            try? files.unlink(temporary)
            throw EideticError(error)
        }
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
