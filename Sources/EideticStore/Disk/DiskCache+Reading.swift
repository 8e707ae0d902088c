public import EideticCore
import Glibc

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
        guard !key.isEmpty, key.utf8.count <= EntryFile.keyLimit else { return nil }
        let hash = CacheKey(key)
        let path = layout.path(of: hash)
        do throws(SystemError) {
            guard let file = try contents(path) else { return nil }
            return verified(file, key, hash, path, allowingExpired)
        } catch {
            throw EideticError(error)
        }
    }

    private func verified(
        _ file: LoadedFile,
        _ key: String,
        _ hash: CacheKey,
        _ path: String,
        _ allowingExpired: Bool
    ) -> Entry? {
        do throws(EntryFile.Flaw) {
            let entry = try EntryFile.entry(file.bytes, expecting: key)
            guard allowingExpired || expiry(of: entry.metadata) > time.now else { return nil }
            return entry
        } catch {
            Log.write(.warning, .store, "\(path) is dropped: \(error)")
            discard(hash, inode: file.inode)
            return nil
        }
    }

    /// Whether `read` would find an entry; blocks on file work.
    ///
    /// Looks at the entry's key and age and does not read its bytes, so damage to them is not seen.
    public func contains(_ key: String) throws(EideticError) -> Bool {
        try info(for: key).map { !$0.isExpired } ?? false
    }

    /// What is known of an entry, without reading its bytes; blocks on file work.
    ///
    /// Gives `nil` where there is no such entry; one that is too old is given, and says so.
    public func info(for key: String) throws(EideticError) -> EntryInfo? {
        guard !key.isEmpty, key.utf8.count <= EntryFile.keyLimit else { return nil }
        do throws(SystemError) {
            guard case .success(let info) = try info(at: path(for: key)), info.key == key else { return nil }
            return info
        } catch {
            if error.number == ENOENT { return nil }
            throw EideticError(error)
        }
    }

    /// Reads what stands after an entry's bytes.
    func info(at path: String) throws(SystemError) -> Result<EntryInfo, EntryFile.Flaw> {
        let file = try files.open(path, O_RDONLY | O_NOFOLLOW)
        let status = try files.status(of: file)
        do throws(EntryFile.Flaw) {
            let head = try readHead(of: file, size: status.size)
            let isExpired = expiry(of: head.metadata) <= time.now
            return .success(
                EntryInfo(
                    key: head.key,
                    file: path,
                    size: ByteCount(head.bodySize),
                    allocated: ByteCount(status.allocated),
                    metadata: head.metadata,
                    isExpired: isExpired
                )
            )
        } catch {
            return .failure(error)
        }
    }

    private func readHead(of file: borrowing FileDescriptor, size: Int) throws(EntryFile.Flaw) -> EntryFile.Head {
        guard size <= EntryFile.sizeLimit else { throw .badLengths }
        var tail = files.tail(of: file, size: size, count: min(size, 512))
        let headSize = try tail.withUnsafeBufferPointer { tail throws(EntryFile.Flaw) in
            try EntryFile.headSize(trailer: UnsafeRawBufferPointer(tail), fileSize: size)
        }
        if headSize > tail.count { tail = files.tail(of: file, size: size, count: headSize) }
        guard tail.count >= headSize else { throw .tooShort(tail.count) }
        return try tail.withUnsafeBufferPointer { tail throws(EntryFile.Flaw) in
            let head = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(tail).suffix(headSize))
            return try EntryFile.head(head, bodySize: size - headSize)
        }
    }
}

/// A file's bytes, and which file it was.
struct LoadedFile {
    let bytes: [UInt8]
    let inode: UInt64
}

extension DiskCache {
    /// Reads a file whole; `nil` where there is none.
    func contents(_ path: String) throws(SystemError) -> LoadedFile? {
        do throws(SystemError) {
            let file = try files.open(path, O_RDONLY | O_NOFOLLOW)
            let status = try files.status(of: file)
            guard status.kind == .regular, status.size <= EntryFile.sizeLimit else {
                return LoadedFile(bytes: [], inode: status.inode)
            }
            return LoadedFile(bytes: try files.bytes(of: file, count: status.size), inode: status.inode)
        } catch {
            // A symbolic link or a folder in an entry's place is no entry.
            guard [ENOENT, ELOOP, EISDIR].contains(error.number) else { throw error }
            return nil
        }
    }
}

extension FileSystem {
    /// Reads `count` bytes from the beginning, or fewer where the file ends before.
    func bytes(of file: borrowing FileDescriptor, count: Int, from offset: Int = 0) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                    let read = try self.read(file, at: offset + filled, into: rest)
                    if read == 0 { break }
                    filled += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// The last `count` bytes of a file of `size` bytes; none where they cannot be read.
    fileprivate func tail(of file: borrowing FileDescriptor, size: Int, count: Int) -> [UInt8] {
        (try? bytes(of: file, count: count, from: size - count)) ?? []
    }
}
