import CLinux
package import EideticCore
import EideticTransfer
import Glibc

/// An open file to upload.
package final class UploadFile: Sendable {
    let descriptor: FileDescriptor

    /// Adopts a descriptor that is open for reading.
    package init(adopting number: Int32) { descriptor = FileDescriptor(adopting: number) }

    /// Opens a file.
    package convenience init(path: String) throws(EideticError) {
        do throws(SystemError) {
            // A pipe without a writer must not block the thread.
            let file = try FileSystem().open(path, flags: O_RDONLY | O_NONBLOCK)
            self.init(adopting: file.relinquish())
        } catch {
            throw EideticError(error)
        }
    }

    /// Copies the file to a new one, which is safe on the device.
    ///
    /// The application may change or remove its file afterwards.
    func copy(to path: String, with files: FileSystem, limit: Int) throws(EideticError) -> UploadCopy {
        do throws(SystemError) {
            let status = try files.status(of: descriptor)
            guard status.kind == .regular else { throw SystemError(.open, errorNumber: EINVAL, path: path) }
            guard status.size <= limit else { throw SystemError(.write, errorNumber: EDQUOT, path: path) }
            let target = try files.open(path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            let length = eidetic_copy_file(descriptor.rawValue, target.rawValue)
            guard length >= 0 else { throw SystemError(.write, errorNumber: errno, path: path) }
            try files.synchronizeData(target)
            return UploadCopy(path: path, length: length)
        } catch {
            files.removeIfPresent(path)
            throw EideticError(error)
        }
    }
}

/// A copy of a file to upload, which the engine renames.
package struct UploadCopy: Sendable, Hashable {
    let path: String
    let length: Int
}
