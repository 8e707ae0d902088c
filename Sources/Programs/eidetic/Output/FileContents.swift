import EideticCLI
import EideticCodecs
import EideticCore
import Glibc

/// The contents of files; the path `-` stands for standard input and standard output.
enum FileContents {
    /// Reads a file.
    ///
    /// The file is a regular one, so that a FIFO among many files holds up nobody; a descriptor that the shell has
    /// opened (`/dev/stdin`, `<(…)`) can be a pipe.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `fileFailure`; `limitExceeded` if it is larger than `limit`.
    static func read(_ path: String, limit: ByteCount) throws(EideticError) -> [UInt8] {
        do throws(SystemError) {
            let files = FileSystem()
            if path == "-" { return try readStandardInput(using: files, limit: limit) }
            if let bytes = try regularContents(of: path, using: files, limit: limit) { return bytes }
        } catch  where error.errorNumber == EFBIG {
            throw EideticError(.limitExceeded, message: "exceeds the limit of \(limit)")
        } catch {
            throw self.error(for: error)
        }
        throw EideticError(.fileFailure, message: "not a regular file")
    }

    /// Reads a file of images, of which a directory has any number; see ``read(_:limit:)``.
    static func readImage(_ path: String) throws(EideticError) -> [UInt8] {
        do throws(EideticError) { return try read(path, limit: DecodeLimits.standard.encodedBytes) } catch {
            guard error.systemErrorNumber == EISDIR, path != "-" else { throw error }
            throw EideticError(.fileFailure, message: "\(error.message); -r takes the images in it")
        }
    }

    /// Returns the contents of a file; `nil` if it is neither regular nor open already.
    private static func regularContents(
        of path: String,
        using files: FileSystem,
        limit: ByteCount
    ) throws(SystemError) -> [UInt8]? {
        let isOpen = FileSystem().isDeviceOrOpenFile(path)
        let file = try files.open(path, flags: isOpen ? O_RDONLY : O_RDONLY | O_NONBLOCK)
        let kind = try files.status(of: file).kind
        if kind == .directory { throw SystemError(.open, errorNumber: EISDIR, path: path) }
        return kind == .regular || isOpen ? try files.contents(of: file, limit: limit.bytes) : nil
    }

    /// Writes a file atomically: a temporary file is written and then renamed.
    ///
    /// A device and an open file, such as `/dev/stdout`, are written directly. Another file stays unless `overwrites`
    /// is `true`, and the call fails with `EEXIST`.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        overwrites: Bool,
        modificationTime: Timestamp? = nil
    ) throws(EideticError) {
        if path == "-" {
            TextStream.output.write(bytes)
            return
        }
        do throws(SystemError) {
            let files = FileSystem()
            if (try? files.status(of: path).kind) == .directory {
                throw SystemError(.open, errorNumber: EISDIR, path: path)
            }
            if FileSystem().isDeviceOrOpenFile(path) {
                let file = try files.open(path, flags: O_WRONLY)
                return try files.write(bytes, to: file)
            }
        } catch {
            throw self.error(for: error)
        }
        try replace(path, with: bytes, overwrites: overwrites, modificationTime: modificationTime)
    }

    /// Writes an output file atomically, and never opens what has its name.
    ///
    /// A link is replaced and not followed, and a FIFO or device is not written to.
    static func replace(
        _ path: String,
        with bytes: [UInt8],
        overwrites: Bool,
        mode: UInt32 = 0o644,
        modificationTime: Timestamp? = nil
    ) throws(EideticError) {
        do throws(SystemError) {
            try FileSystem().replaceContents(
                of: path,
                with: bytes,
                mode: mode,
                keepsExisting: !overwrites,
                modificationTime: modificationTime
            )
        } catch {
            throw self.error(for: error)
        }
    }

    /// Throws the error of `write(_:to:overwrites:)` for a file that exists, before there is anything to write.
    static func checkUnused(_ path: String?, overwrites: Bool) throws(EideticError) {
        guard let path, path != "-", !overwrites, !FileSystem().isDeviceOrOpenFile(path),
            (try? FileSystem().linkStatus(of: path)) != nil
        else { return }
        throw EideticError(.fileFailure, message: "\(path): \(existsMessage)", systemErrorNumber: EEXIST)
    }

    static func makeDirectory(_ path: String) throws(EideticError) {
        do throws(SystemError) {
            try FileSystem().makeDirectories(path, mode: 0o755)
        } catch {
            let reason = self.error(for: error)
            throw EideticError(reason.code, message: "\(path): \(reason.message)")
        }
    }

    /// Returns the error without its path, which the caller adds to the message.
    static func error(for error: SystemError) -> EideticError {
        let number = error.errorNumber
        let message = number == EEXIST ? existsMessage : SystemError.message(for: number)
        return EideticError(EideticError(error).code, message: message, systemErrorNumber: number)
    }

    private static let existsMessage = "the file exists; --\(CommonOptions.overwrite.name) replaces it"

    private static func readStandardInput(using files: FileSystem, limit: ByteCount) throws(SystemError) -> [UInt8] {
        let copy = dup(STDIN_FILENO)
        guard copy >= 0 else { throw SystemError(.read, errorNumber: errno) }
        return try files.contents(of: FileDescriptor(adopting: copy), limit: limit.bytes)
    }
}

extension FileContents {
    /// Returns whether a file is a regular one that has exactly these bytes.
    static func hasContents(_ path: String, equalTo bytes: [UInt8]) -> Bool {
        guard (try? FileSystem().linkStatus(of: path).kind) == .regular else { return false }
        return (try? read(path, limit: ByteCount(bytes.count))) == bytes
    }
}

extension EideticError {
    /// A Boolean value indicating whether an output file was not written, because it exists.
    var isExistingFile: Bool { systemErrorNumber == EEXIST }
}
