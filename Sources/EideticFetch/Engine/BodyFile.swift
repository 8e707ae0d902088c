import EideticCore
import Glibc

/// A file that a body is written to as it arrives.
///
/// The file has a temporary name until `commit()`. An instance that is released before that removes it. It is used on
/// one thread only.
final class BodyFile {
    private let path: String
    private let temporaryPath: String
    private let fileSystem: FileSystem
    private let descriptor: FileDescriptor
    private var isReleased = false

    init(path: String, fileSystem: FileSystem) throws(SystemError) {
        let temporaryPath = FileSystem.temporaryPath(for: path)
        do throws(SystemError) {
            descriptor = try fileSystem.open(temporaryPath, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        } catch {
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
        self.path = path
        self.temporaryPath = temporaryPath
        self.fileSystem = fileSystem
    }

    /// Continues a part.
    init(continuing part: PartialFile, path: String, fileSystem: FileSystem) throws(SystemError) {
        descriptor = try fileSystem.open(part.path, flags: O_WRONLY | O_APPEND | O_NOFOLLOW)
        (self.path, self.fileSystem) = (path, fileSystem)
        temporaryPath = part.take()
    }

    deinit { if !isReleased { try? fileSystem.unlink(temporaryPath) } }

    /// Appends a chunk.
    func write(_ chunk: UnsafeRawBufferPointer) throws(SystemError) {
        do throws(SystemError) {
            try fileSystem.write(chunk, to: descriptor)
        } catch {
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
    }

    /// Renames the complete file; replaces an existing file of its name.
    func commit() throws(SystemError) {
        try fileSystem.rename(temporaryPath, to: path)
        isReleased = true
    }

    /// Returns the incomplete file, which this instance does not remove any more.
    func makePart(length: Int) -> PartialFile {
        isReleased = true
        return PartialFile(path: temporaryPath, length: length, fileSystem: fileSystem)
    }
}
