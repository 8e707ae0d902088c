import EideticCore
import Glibc

/// Whole files, where `-` means standard input and standard output.
enum FileBytes {
    /// Reads a file.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `fileFailure`; `limitExceeded` where it is larger than `limit`.
    static func read(_ path: String, limit: ByteCount) throws(EideticError) -> [UInt8] {
        do throws(SystemError) {
            let files = FileSystem()
            if path == "-" { return try readInput(files, limit: limit) }
            guard try files.status(of: path).kind != .directory else { throw SystemError(.open, EISDIR, path: path) }
            return try files.contents(of: path, limit: limit.bytes)
        } catch  where error.number == EFBIG {
            throw EideticError(.limitExceeded, "larger than the limit of \(limit)")
        } catch {
            throw describe(error)
        }
    }

    /// Writes a file: a temporary one first, then a rename, so that nobody sees half of it.
    ///
    /// What is no regular file, such as `/dev/stdout`, is written as it stands.
    static func write(_ bytes: [UInt8], to path: String) throws(EideticError) {
        if path == "-" {
            TextStream.output.write(bytes)
            return
        }
        do throws(SystemError) {
            let files = FileSystem()
            let kind = try? files.status(of: path).kind
            if kind == .directory { throw SystemError(.open, EISDIR, path: path) }
            try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
                let raw = UnsafeRawBufferPointer(buffer)
                guard kind == nil || kind == .regular else {
                    return try files.write(raw, to: try files.open(path, O_WRONLY))
                }
                try files.replaceContents(of: path, with: raw)
            }
        } catch {
            throw describe(error)
        }
    }

    /// The error without the path, which the message names already.
    static func describe(_ error: SystemError) -> EideticError {
        let plain = EideticError(error)
        return EideticError(plain.code, SystemError.message(error.number), systemErrorNumber: error.number)
    }

    private static func readInput(_ files: FileSystem, limit: ByteCount) throws(SystemError) -> [UInt8] {
        let copy = dup(STDIN_FILENO)
        guard copy >= 0 else { throw SystemError(.read, errno) }
        return try files.contents(of: FileDescriptor(adopting: copy), limit: limit.bytes)
    }
}
