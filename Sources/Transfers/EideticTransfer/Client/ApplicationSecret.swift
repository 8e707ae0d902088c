package import EideticCore
import Glibc

/// The secrets by which the transfer process knows an application again.
///
/// Each application has one, of 32 random bytes, in the user's state directory; it is created at the first connection.
/// Functions block.
package struct ApplicationSecret: Sendable {
    package static let length = 32

    private let directory: String
    private let files = FileSystem()

    /// Creates the secrets beside the directory of transfers; `nil` without one.
    package init?(at location: ServiceLocation) {
        guard let parent = location.directory?.parentPath else { return nil }
        directory = "\(parent)/identities"
    }

    /// Returns the path of the secret of an application, whose name may contain any character.
    package func path(for application: String) -> String {
        "\(directory)/\(Digest(sha256: Array(application.utf8)).hexadecimal.prefix(32))"
    }

    /// Returns the secret of an application, which is created if it is missing.
    ///
    /// - Throws: `EPERM` if other users could read or change it.
    package func load(for application: String) throws(SystemError) -> [UInt8] {
        let path = path(for: application)
        do throws(SystemError) { return try read(path) } catch  where error.errorNumber == ENOENT {}
        try files.makeDirectories(directory)
        let temporary = FileSystem.temporaryPath(for: path)
        defer { files.removeIfPresent(temporary) }
        try write(to: temporary)
        // Of two processes that do so at the same time, one has the secret that stays.
        do throws(SystemError) { try files.link(temporary, to: path) } catch  where error.errorNumber == EEXIST {}
        try files.synchronizeDirectory(of: path)
        return try read(path)
    }

    private func write(to path: String) throws(SystemError) {
        var numbers = SystemRandomNumberGenerator()
        let bytes = (0..<Self.length).map { _ in UInt8.random(in: 0 ... .max, using: &numbers) }
        let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try files.write(bytes, to: file, at: 0)
        try files.synchronizeData(file)
    }

    private func read(_ path: String) throws(SystemError) -> [UInt8] {
        let file = try files.open(path, flags: O_RDONLY | O_NOFOLLOW)
        let status = try files.status(of: file)
        let isOwn = status.kind == .regular && status.owner == geteuid() && status.size == Self.length
        guard isOwn, status.permissions & 0o077 == 0 else {
            let mode = String(status.permissions, radix: 8)
            let fault =
                isOwn
                ? "may be read or changed by others (mode \(mode)): chmod 600 \(path)"
                : "is damaged, or not a file of this user: remove it, which gives up the application's transfers"
            let violation = DirectoryTrust.Violation(path: path, reason: fault)
            throw SystemError(.open, errorNumber: EPERM, path: path, violation: violation)
        }
        return try files.bytes(of: file, at: 0, count: Self.length)
    }
}
