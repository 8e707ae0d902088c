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
struct UploadCopy: Sendable, Hashable {
    let path: String
    let length: Int
}

extension TransferEngine {
    /// Copies files on the application's thread, and calls `body` with the copies, or the error.
    func copy(
        _ files: [UploadFile],
        of application: TransferApplication,
        then body: @escaping ([UploadCopy], EideticError?) -> Void
    ) {
        lastCopy += 1
        let number = lastCopy
        let (fileSystem, directory) = (fileSystem, "\(application.directory)/uploads")
        let limit = ((try? diskLimit()) ?? 0) - application.diskBytes
        do throws(EideticError) {
            try copyWorkers.add(for: application) { [inbox] in
                var copies: [UploadCopy] = []
                var failure: EideticError?
                for (index, file) in files.enumerated() where failure == nil {
                    do throws(EideticError) {
                        let path = "\(directory)/copy-\(number)-\(index)"
                        let used = copies.reduce(0) { $0 + $1.length }
                        copies.append(try file.copy(to: path, with: fileSystem, limit: limit - used))
                    } catch {
                        failure = error
                    }
                }
                let (result, error) = (copies, failure)
                let isPosted = inbox.post { $0.didCopy(result, number: number, failure: error) }
                if !isPosted { for copy in result { fileSystem.removeIfPresent(copy.path) } }
            }
            pendingCopies[number] = (application, body)
        } catch {
            body([], error)
        }
    }

    private func didCopy(_ copies: [UploadCopy], number: UInt64, failure: EideticError?) {
        guard let pending = pendingCopies.removeValue(forKey: number) else { return }
        copyWorkers.finish(of: pending.application)
        // Other files may have come since the copy was begun.
        let isTooMuch = copies.reduce(pending.application.diskBytes) { $0 + $1.length } > (try? diskLimit()) ?? 0
        let error = failure ?? (isTooMuch ? quotaError(of: pending.application) : nil)
        if error != nil { for copy in copies { fileSystem.removeIfPresent(copy.path) } }
        pending.completion(error == nil ? copies : [], error)
    }

    /// Ends the additions whose files are being copied, because the engine stops; their clients add them again.
    func abandonCopies() {
        let pending = pendingCopies.values
        pendingCopies = [:]
        for entry in pending { entry.completion([], Self.stopping) }
        copyWorkers.stop()
    }
}
