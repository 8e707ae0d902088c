import EideticCore
import Glibc

/// A file that a body goes to while it comes.
///
/// It has another name until it is complete, and is gone where it never is. Lives on one thread.
final class BodyFile {
    private let path: String
    private let temporary: String
    private let files: FileSystem
    private let file: FileDescriptor
    private var isComplete = false

    init(_ path: String, _ files: FileSystem) throws(SystemError) {
        let temporary = FileSystem.temporaryName(for: path)
        do throws(SystemError) {
            file = try files.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        } catch {
            throw SystemError(error.call, error.number, path: path)
        }
        self.path = path
        self.temporary = temporary
        self.files = files
    }

    deinit { if !isComplete { try? files.unlink(temporary) } }

    /// Adds a piece.
    func write(_ piece: UnsafeRawBufferPointer) throws(SystemError) {
        do throws(SystemError) {
            try files.write(piece, to: file)
        } catch {
            throw SystemError(error.call, error.number, path: path)
        }
    }

    /// Gives the file its name; what had that name before is gone.
    func complete() throws(SystemError) {
        try files.rename(temporary, to: path)
        isComplete = true
    }
}
