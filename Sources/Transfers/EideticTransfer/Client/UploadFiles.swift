import EideticCore
import Glibc

/// The open files of uploads, until they are sent to the transfer process.
final class UploadFiles: Sendable {
    private static let pool = WorkPool(name: "eidetic uploads", maximumThreadCount: 4)

    let descriptors: [Int32]

    private init(_ descriptors: [Int32]) { self.descriptors = descriptors }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Opens files for reading.
    ///
    /// - Throws: `notFound`, `permissionDenied` or another error of the file system; `invalidArgument` for something
    ///   other than a regular file.
    static func open(_ paths: [String]) async throws(EideticError) -> UploadFiles? {
        if paths.isEmpty { return nil }
        return try await pool.run { _ throws(EideticError) in
            var numbers: [Int32] = []
            do throws(EideticError) {
                for path in paths { numbers.append(try openFile(at: path)) }
            } catch {
                for number in numbers { close(number) }
                throw error
            }
            return UploadFiles(numbers)
        }
    }

    private static func openFile(at path: String) throws(EideticError) -> Int32 {
        // A pipe without a writer must not block.
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw EideticError(SystemError(.open, errorNumber: errno, path: path)) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(number)
            throw EideticError(.invalidArgument, message: "\(path) is not a regular file")
        }
        return number
    }
}
