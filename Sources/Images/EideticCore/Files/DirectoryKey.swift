import Glibc

/// A random key in a file of a directory, shared by all processes that use the directory.
///
/// Digests that are made with it are worthless to anybody who cannot read the file. The file has mode 0600 and appears
/// complete or not at all. A file that others may read, or that has another size, is replaced.
package final class DirectoryKey: Sendable {
    /// The number of bytes of a key.
    package static let size = 32

    private let path: String
    private let files: FileSystem
    private let known = Guarded<[UInt8]?>(nil)
    /// A key for reading while the directory has none: what it leads to does not exist.
    private let placeholder = randomBytes()

    /// Creates the key of a directory; reads nothing yet.
    package init(directory: String, files: FileSystem) {
        path = "\(directory)/key"
        self.files = files
    }

    /// Returns the key, or one that matches nothing if the directory has none or it cannot be read.
    ///
    /// Blocks on file access until the directory has a key.
    package func forReading() -> [UInt8] { (try? load()) ?? placeholder }

    /// Returns the key, and creates it if the directory has none.
    ///
    /// Blocks on file access at the first call.
    package func forWriting() throws(SystemError) -> [UInt8] {
        if let key = try load() { return key }
        try create()
        guard let key = try load() else { throw SystemError(.open, errorNumber: EINVAL, path: path) }
        return key
    }

    private func load() throws(SystemError) -> [UInt8]? {
        if let key = known.withLock({ $0 }) { return key }
        guard let key = try read() else { return nil }
        known.withLock { $0 = key }
        return key
    }

    /// Reads the file; returns `nil` if it does not exist or is not a private key.
    private func read() throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            let file = try files.open(path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let status = try files.status(of: file)
            guard status.kind == .regular, status.size == Self.size, status.owner == geteuid(),
                status.permissions & 0o077 == 0
            else { return nil }
            return try files.contents(of: file, limit: Self.size)
        } catch {
            guard [ENOENT, ELOOP, ENXIO].contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Creates the file, unless another process does so at the same time.
    private func create() throws(SystemError) {
        let temporaryPath = FileSystem.temporaryPath(for: path)
        defer { try? files.unlink(temporaryPath) }
        try writeRandomBytes(to: temporaryPath)
        do throws(SystemError) {
            try files.link(temporaryPath, to: path)
        } catch {
            guard error.errorNumber == EEXIST else { throw error }
            // Either the key of another process, or a file that is no key.
            if try read() == nil { try files.rename(temporaryPath, to: path) }
        }
    }

    private func writeRandomBytes(to path: String) throws(SystemError) {
        let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        try files.write(Self.randomBytes(), to: file)
        // After a power cut, the entries whose names depend on the key would be lost with it.
        try files.synchronizeData(file)
    }

    /// Returns random bytes from the kernel's generator, by `getrandom(2)`.
    private static func randomBytes() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<size).map { _ in generator.next() }
    }
}
