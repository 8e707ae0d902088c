import EideticCore
import Glibc

/// A reader of entries' files.
struct EntryReader: Sendable {
    let files: FileSystem

    /// The bytes of a file.
    struct LoadedFile {
        var bytes: [UInt8] = []
        /// The reason that the file was not read.
        var formatError: EntryFile.FormatError?
        /// The modification time, if it was requested.
        var modificationTime: Timestamp?

        /// Verifies the file, and moves its bytes into the returned entry.
        mutating func extractEntry(expecting key: String?) throws(EntryFile.FormatError) -> DiskCache.Entry {
            if let formatError { throw formatError }
            // Without another owner the bytes are truncated in place, without a copy.
            var bytes: [UInt8] = []
            swap(&bytes, &self.bytes)
            return try EntryFile.decodeEntry(bytes, expecting: key)
        }
    }

    /// The footer of an entry, and the status of its file.
    struct EntrySummary {
        let footer: EntryFile.Footer
        let status: FileStatus
    }

    /// The error numbers that mean that there is no entry: a missing file, a symbolic link, a directory, a socket, or a
    /// file in place of a directory.
    static let absenceErrors: Set<Int32> = [ENOENT, ELOOP, EISDIR, ENOTDIR, ENXIO]

    /// The flags for opening a file; `O_NONBLOCK` keeps a named pipe from blocking the reader.
    static let openFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    /// The largest file that is read before its footer was verified, so that a damaged size costs no memory.
    private static let trustedSize = 1 << 20

    /// Reads a file, or returns `nil` if it does not exist.
    ///
    /// The modification time is that of the open file, and costs one more system call.
    func contents(of path: String, includingModificationTime: Bool = false) throws(SystemError) -> LoadedFile? {
        do throws(SystemError) {
            let file = try files.open(path, flags: Self.openFlags)
            let size = try files.size(of: file)
            if size > Self.trustedSize, case .failure(let error) = try footer(of: file) {
                return LoadedFile(formatError: error)
            }
            let modificationTime = try includingModificationTime ? files.status(of: file).modificationTime : nil
            return LoadedFile(bytes: try files.bytes(of: file, count: size), modificationTime: modificationTime)
        } catch {
            // Pipes have no size, and on some file systems neither have directories.
            if error.call == .lseek, [ESPIPE, EINVAL].contains(error.errorNumber) {
                return LoadedFile(formatError: .notRegularFile)
            }
            guard Self.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Reads the footer of a file that may be of any kind.
    private func footer(
        of file: borrowing FileDescriptor
    ) throws(SystemError) -> Result<EntryFile.Footer, EntryFile.FormatError> {
        let status = try files.status(of: file)
        guard status.kind == .regular else { return .failure(.notRegularFile) }
        return try footer(of: file, size: status.size)
    }

    /// Truncates a file after its last complete footer, if a kill cut off the footer after that.
    ///
    /// The caller must hold the directory's lock.
    ///
    /// - Returns: `true` if there is a complete footer; otherwise, `false`.
    func repair(_ path: String) throws(SystemError) -> Bool {
        let file = try files.open(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let status = try files.status(of: file)
        guard status.kind == .regular else { return false }
        let count = min(status.size, Self.repairSearchSize)
        let tail = try files.bytes(of: file, at: status.size - count, count: count)
        guard let end = tail.withUnsafeBytes({ EntryFile.endOfLastFooter(in: $0, fileSize: status.size) }) else {
            return false
        }
        if end < status.size { try files.truncate(file, to: end) }
        return true
    }

    /// The number of bytes at the end of a file in which a complete footer is searched.
    private static let repairSearchSize = 1 << 18

    /// Reads the footer and the status of a file, or returns `nil` if it does not exist.
    func summary(of path: String) throws(SystemError) -> Result<EntrySummary, EntryFile.FormatError>? {
        do throws(SystemError) {
            let file = try files.open(path, flags: Self.openFlags)
            let status = try files.status(of: file)
            guard status.kind == .regular else { return .failure(.notRegularFile) }
            return try footer(of: file, size: status.size).map { EntrySummary(footer: $0, status: status) }
        } catch {
            guard Self.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Reads the footer of an open file.
    func footer(
        of file: borrowing FileDescriptor,
        size: Int
    ) throws(SystemError) -> Result<EntryFile.Footer, EntryFile.FormatError> {
        guard size <= EntryFile.sizeLimit else { return .failure(.badLengths) }
        var tail = try files.bytes(of: file, at: max(0, size - 512), count: min(size, 512))
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
            return try files.bytes(of: file, at: size - count, count: count)
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
            let footer = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(tail).suffix(count))
            return try EntryFile.decodeFooter(footer)
        }
    }
}
