import EideticCore
import Glibc

/// The file of a finished transfer on its way to the application.
///
/// The application gets a second name of the file, which it may move or remove; the first one stays in the directory of
/// the transfer process until the event is acknowledged. If this process is killed after the application has moved the
/// file, and before the acknowledgement, the event comes again with the whole file.
struct DeliveredFile: Sendable {
    /// The path in the directory of the transfer process.
    let path: String
    /// The path to which an asynchronous function wants the file.
    let destination: String?
    var fileSystem = FileSystem()

    /// The second name, which is removed when the application has handled the event.
    ///
    /// The transfer process keeps the files of `deliveries` as long as those of `outbox`.
    private var linkPath: String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 2, parts[parts.count - 2] == "outbox" else { return "\(path).delivery" }
        return (parts.dropLast(2) + ["deliveries", parts[parts.count - 1]]).joined(separator: "/")
    }

    /// Adds a name for the application to the file, and returns it; blocks.
    func prepare() throws(EideticError) -> String {
        do throws(SystemError) {
            guard let destination else {
                try link(to: linkPath)
                return linkPath
            }
            try move(to: destination)
            return destination
        } catch {
            throw EideticError(error)
        }
    }

    /// Removes the name that the application had, if it is still there; blocks.
    func remove() { try? fileSystem.unlink(linkPath) }

    private func link(to name: String) throws(SystemError) {
        do throws(SystemError) { try fileSystem.unlink(name) } catch  where error.errorNumber == ENOENT {}
        try fileSystem.link(path, to: name)
    }

    private func move(to destination: String) throws(SystemError) {
        let temporary = FileSystem.temporaryPath(for: destination)
        do throws(SystemError) {
            do throws(SystemError) {
                try fileSystem.link(path, to: temporary)
            } catch  where [EXDEV, EPERM, EMLINK].contains(error.errorNumber) {
                try copy(to: temporary)
            }
            try fileSystem.rename(temporary, to: destination)
        } catch {
            try? fileSystem.unlink(temporary)
            throw error
        }
    }

    private func copy(to target: String) throws(SystemError) {
        let source = try fileSystem.open(path, flags: O_RDONLY)
        let copy = try fileSystem.open(target, flags: O_WRONLY | O_CREAT | O_EXCL)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try fileSystem.read(source, into: buffer)
            if count == 0 { return try fileSystem.synchronizeData(copy) }
            try fileSystem.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: copy)
        }
    }
}
