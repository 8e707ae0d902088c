import EideticCore
import Glibc

/// Reads entries' files.
struct EntryReader: Sendable {
    let files: FileSystem

    /// A file's bytes.
    struct LoadedFile {
        var bytes: [UInt8] = []
        /// Why it was not read.
        var flaw: EntryFile.FormatError?
        /// The time of modification, where it was asked for.
        var modified: Timestamp?

        /// Verifies the file, and cuts its bytes down to the entry's, which are given away.
        mutating func extractEntry(expecting key: String?) throws(EntryFile.FormatError) -> DiskCache.Entry {
            if let flaw { throw flaw }
            // Nobody else holds the bytes then, so they are cut without a copy.
            var bytes: [UInt8] = []
            swap(&bytes, &self.bytes)
            return try EntryFile.decodeEntry(bytes, expecting: key)
        }
    }

    /// What stands after an entry's bytes, and what the file system says of the file.
    struct EntrySummary {
        let head: EntryFile.Footer
        let status: FileStatus
    }

    /// Errors that say that there is no entry: nothing, a symbolic link, a folder, a socket, a file in place of a folder.
    static let absenceErrors: Set<Int32> = [ENOENT, ELOOP, EISDIR, ENOTDIR, ENXIO]

    /// A pipe in place of a file must not keep the reader waiting.
    static let openFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    /// Files above this size are read only where they end as entries do: a damaged size must not cost memory.
    private static let trustedSize = 1 << 20

    /// Reads a file whole; `nil` where there is none.
    ///
    /// With `withTime` it also asks when this very file was modified, which takes a system call more.
    func contents(of path: String, includingModificationTime: Bool = false) throws(SystemError) -> LoadedFile? {
        do throws(SystemError) {
            let file = try files.open(path, flags: Self.openFlags)
            let size = try files.size(of: file)
            if size > Self.trustedSize, case .failure(let flaw) = try footer(of: file) { return LoadedFile(flaw: flaw) }
            let modified = try includingModificationTime ? files.status(of: file).modificationTime : nil
            return LoadedFile(bytes: try files.bytes(of: file, count: size), modified: modified)
        } catch {
            // Pipes have no size, nor have folders on some file systems.
            if error.call == .lseek, [ESPIPE, EINVAL].contains(error.errorNumber) {
                return LoadedFile(flaw: .notRegularFile)
            }
            guard Self.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Reads the head of what may be any file.
    private func footer(
        of file: borrowing FileDescriptor
    ) throws(SystemError) -> Result<EntryFile.Footer, EntryFile.FormatError> {
        let status = try files.status(of: file)
        guard status.kind == .regular else { return .failure(.notRegularFile) }
        return try footer(of: file, size: status.size)
    }

    /// Cuts a file off behind its latest head that is whole, where the one behind that was cut off by a kill.
    ///
    /// Gives whether there was one. Only to be called with the directory locked.
    func repair(_ path: String) throws(SystemError) -> Bool {
        let file = try files.open(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let status = try files.status(of: file)
        guard status.kind == .regular else { return false }
        let count = min(status.size, Self.repairSearchSize)
        let tail = try files.bytes(of: file, count: count, from: status.size - count)
        guard let end = tail.withUnsafeBytes({ EntryFile.endOfLastFooter(in: $0, fileSize: status.size) }) else {
            return false
        }
        if end < status.size { try files.truncate(file, to: end) }
        return true
    }

    /// So far from the end a whole head is looked for.
    private static let repairSearchSize = 1 << 18

    /// Reads what stands after an entry's bytes; `nil` where there is no file.
    func summary(of path: String) throws(SystemError) -> Result<EntrySummary, EntryFile.FormatError>? {
        do throws(SystemError) {
            let file = try files.open(path, flags: Self.openFlags)
            let status = try files.status(of: file)
            guard status.kind == .regular else { return .failure(.notRegularFile) }
            return Self.summary(footer: try footer(of: file, size: status.size), status: status)
        } catch {
            guard Self.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    private static func summary(
        footer head: Result<EntryFile.Footer, EntryFile.FormatError>,
        status: FileStatus
    ) -> Result<EntrySummary, EntryFile.FormatError> {
        head.map { EntrySummary(head: $0, status: status) }
    }

    /// Reads the head of an open file.
    func footer(
        of file: borrowing FileDescriptor,
        size: Int
    ) throws(SystemError) -> Result<EntryFile.Footer, EntryFile.FormatError> {
        guard size <= EntryFile.sizeLimit else { return .failure(.badLengths) }
        var tail = try files.bytes(of: file, count: min(size, 512), from: max(0, size - 512))
        do throws(EntryFile.FormatError) {
            let count = try tail.withUnsafeBufferPointer { tail throws(EntryFile.FormatError) in
                try EntryFile.footerSize(trailer: UnsafeRawBufferPointer(tail), fileSize: size)
            }
            if count > tail.count { tail = try longerTail(of: file, size: size, count: count) }
            return .success(try Self.footer(in: tail, count: count))
        } catch {
            return .failure(error)
        }
    }

    private func longerTail(
        of file: borrowing FileDescriptor,
        size: Int,
        count: Int
    ) throws(EntryFile.FormatError) -> [UInt8] {
        do throws(SystemError) {
            return try files.bytes(of: file, count: count, from: size - count)
        } catch {
            throw .badFooterChecksum
        }
    }

    private static func footer(
        in tail: [UInt8],
        count: Int
    ) throws(EntryFile.FormatError) -> EntryFile.Footer {
        guard tail.count >= count else { throw .tooShort(tail.count) }
        return try tail.withUnsafeBufferPointer { tail throws(EntryFile.FormatError) in
            let head = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(tail).suffix(count))
            return try EntryFile.decodeFooter(head)
        }
    }
}

extension FileSystem {
    /// Reads `count` bytes from an offset, or fewer where the file ends before.
    func bytes(
        of file: borrowing FileDescriptor,
        count: Int,
        from offset: Int = 0
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let remaining = UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]
                    )
                    let read = try self.read(file, at: offset + filled, into: remaining)
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

    /// The names in a folder; none where there is no folder.
    func existingNames(in folder: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try entryNames(in: folder)
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return []
        }
    }
}
