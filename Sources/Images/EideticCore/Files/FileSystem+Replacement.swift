import CLinux
import Glibc

extension FileSystem {
    /// Returns a path beside `path` that nobody can foretell, for a file that is not yet complete.
    package static func temporaryPath(for path: String) -> String {
        var name = path
        name.reserveCapacity(path.utf8.count + 20)
        name.append(".")
        name.append(String(UInt64.random(in: 0...UInt64.max), radix: 36))
        name.append(".tmp")
        return name
    }

    /// Replaces a file atomically, so that readers see all or nothing.
    ///
    /// The file gets a name when it is complete, so that a process that is killed while it writes leaves nothing; where
    /// the file system cannot do that, it is a temporary file beside the other, and renamed. One that replaces another
    /// is complete when it gets a temporary name, which stays if the process is killed before it is renamed. Whatever
    /// has the name of the file is never opened. With `keepsExisting` it stays, and the call fails with `EEXIST`.
    /// Without a modification time the file has that of now.
    package func replaceContents(
        of path: String,
        with bytes: [UInt8],
        mode: UInt32 = 0o644,
        keepsExisting: Bool = false,
        modificationTime: Timestamp? = nil
    ) throws(SystemError) {
        func fill(_ file: borrowing FileDescriptor) throws(SystemError) {
            try write(bytes, to: file)
            if let modificationTime { try setModificationTime(of: file, to: modificationTime) }
        }
        do throws(SystemError) {
            do throws(SystemError) {
                let file = try openUnnamed(beside: path, mode: mode)
                try fill(file)
                return try move(file, to: path, keepsExisting: keepsExisting)
            } catch  where error.isUnnamedFileUnsupported {
                // It gets a temporary name.
            }
            let temporary = Self.temporaryPath(for: path)
            let file = try open(temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            do throws(SystemError) {
                try fill(file)
                try keepsExisting ? move(temporary, toUnused: path) : rename(temporary, to: path)
            } catch {
                try? unlink(temporary)
                throw error
            }
        } catch {
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
    }

    /// Opens a new file without a name, in the directory of a path, by `open(2)` with `O_TMPFILE`.
    private func openUnnamed(beside path: String, mode: UInt32) throws(SystemError) -> FileDescriptor {
        let directory = path.parentPath.map { "\($0)/" } ?? "."
        return FileDescriptor(adopting: try perform(.open, path: path) { eidetic_open_unnamed(directory, mode) })
    }

    /// Moves a file without a name to a path.
    private func move(
        _ file: borrowing FileDescriptor,
        to path: String,
        keepsExisting: Bool
    ) throws(SystemError) {
        do throws(SystemError) {
            try link(file, to: path)
        } catch  where error.errorNumber == EEXIST && !keepsExisting {
            // No call replaces a file by one without a name.
            let temporary = Self.temporaryPath(for: path)
            try link(file, to: temporary)
            do throws(SystemError) {
                try rename(temporary, to: path)
            } catch {
                try? unlink(temporary)
                throw error
            }
        }
    }

    private func link(_ file: borrowing FileDescriptor, to path: String) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.linkat, path: path) { eidetic_link_file(number, path) }
    }

    /// Renames a file; fails with `EEXIST` if there is anything of the new name.
    private func move(_ path: String, toUnused target: String) throws(SystemError) {
        do throws(SystemError) {
            try link(path, to: target)
        } catch  where error.isLinkDenied {
            // The file system has no hard links, or this process may not make them.
            guard (try? linkStatus(of: target)) == nil else {
                throw SystemError(.link, errorNumber: EEXIST, path: target)
            }
            return try rename(path, to: target)
        }
        try unlink(path)
    }
}

extension SystemError {
    /// A Boolean value indicating whether files without a name are unknown to the kernel or the file system, or cannot
    /// be named.
    fileprivate var isUnnamedFileUnsupported: Bool {
        call == .open && [EOPNOTSUPP, EISDIR, EINVAL, ENOSYS].contains(errorNumber) || call == .linkat && isLinkDenied
    }

    /// A Boolean value indicating whether a link was denied, while a file may be created and renamed.
    ///
    /// The reasons are many: no `/proc`, file systems without links, AppArmor, seccomp, and owners without a number.
    fileprivate var isLinkDenied: Bool { ![EEXIST, ENOSPC, EDQUOT, EIO].contains(errorNumber) }
}
