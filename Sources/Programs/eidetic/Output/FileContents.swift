import EideticCLI
import EideticCore
import Glibc

/// The contents of files; the path `-` stands for standard input and standard output.
enum FileContents {
    /// Reads a file.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `fileFailure`; `limitExceeded` if it is larger than `limit`.
    static func read(_ path: String, limit: ByteCount) throws(EideticError) -> [UInt8] {
        do throws(SystemError) {
            let files = FileSystem()
            if path == "-" { return try readStandardInput(using: files, limit: limit) }
            guard try files.status(of: path).kind != .directory else {
                throw SystemError(.open, errorNumber: EISDIR, path: path)
            }
            return try files.contents(of: path, limit: limit.bytes)
        } catch  where error.errorNumber == EFBIG {
            throw EideticError(.limitExceeded, message: "exceeds the limit of \(limit)")
        } catch {
            throw self.error(for: error)
        }
    }

    /// Writes a file atomically: a temporary file is written and then renamed.
    ///
    /// A file that is not regular, such as `/dev/stdout`, is written directly.
    static func write(_ bytes: [UInt8], to path: String) throws(EideticError) {
        if path == "-" {
            TextStream.output.write(bytes)
            return
        }
        do throws(SystemError) {
            let files = FileSystem()
            let kind = try? files.status(of: path).kind
            if kind == .directory { throw SystemError(.open, errorNumber: EISDIR, path: path) }
            try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
                let raw = UnsafeRawBufferPointer(buffer)
                guard kind == nil || kind == .regular else {
                    return try files.write(raw, to: try files.open(path, flags: O_WRONLY))
                }
                try files.replaceContents(of: path, with: raw)
            }
        } catch {
            throw self.error(for: error)
        }
    }

    /// Replaces whatever has the name of an output file, atomically and without opening it.
    ///
    /// A link is replaced and not followed, and a FIFO or device is not written to.
    static func replace(_ path: String, with bytes: [UInt8]) throws(EideticError) {
        do throws(SystemError) {
            try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
                try FileSystem().replaceContents(of: path, with: UnsafeRawBufferPointer(buffer))
            }
        } catch {
            throw self.error(for: error)
        }
    }

    /// Returns the error without its path, which the caller adds to the message.
    static func error(for error: SystemError) -> EideticError {
        let plain = EideticError(error)
        return EideticError(
            plain.code,
            message: SystemError.message(for: error.errorNumber),
            systemErrorNumber: error.errorNumber
        )
    }

    private static func readStandardInput(using files: FileSystem, limit: ByteCount) throws(SystemError) -> [UInt8] {
        let copy = dup(STDIN_FILENO)
        guard copy >= 0 else { throw SystemError(.read, errorNumber: errno) }
        return try files.contents(of: FileDescriptor(adopting: copy), limit: limit.bytes)
    }
}
