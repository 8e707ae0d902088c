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
    /// The description with which another process continues the file if this one is killed.
    private var written: WrittenPart?

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

    deinit {
        guard !isReleased else { return }
        removeDescription()
        try? fileSystem.unlink(temporaryPath)
    }

    /// Lets another process continue the file from now on, if this one is killed.
    ///
    /// - Parameters:
    ///   - request: The request as it is sent.
    ///   - validator: A strong validator of the body.
    ///   - totalLength: The length of the complete body; `nil` if it is unknown.
    /// - Throws: The error of the file system; the file itself is not affected.
    func describe(of request: FetchRequest, validator: String, totalLength: Int?) throws(SystemError) {
        try fileSystem.lock(descriptor, operation: LOCK_EX | LOCK_NB)
        let written = try WrittenPart(
            at: temporaryPath,
            file: descriptor,
            request: request,
            validator: validator,
            totalLength: totalLength,
            fileSystem: fileSystem
        )
        self.written = written
        try written.write(beside: path, with: fileSystem)
    }

    private func removeDescription() {
        written?.remove(beside: path, with: fileSystem)
        written = nil
    }

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
        removeDescription()
    }

    /// Returns the incomplete file, which this instance does not remove any more.
    func makePart(length: Int) -> PartialFile {
        isReleased = true
        // Before the file gets a trailer, which is no part of the body.
        removeDescription()
        return PartialFile(path: temporaryPath, length: length, fileSystem: fileSystem)
    }
}
