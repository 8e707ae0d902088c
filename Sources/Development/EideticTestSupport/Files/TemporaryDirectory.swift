package import EideticCore
import Glibc

/// A temporary directory for one test; removed with its contents when it is deallocated.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a trailing slash.
    package let path: String
    private let files = FileSystem()

    /// Creates an empty directory below `parent`, by default below `TMPDIR`, or below `/tmp` if that is not set.
    package init(named name: String = "eidetic", in parent: String? = nil) throws(SystemError) {
        let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        path = "\(parent)/\(name)-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        try files.makeDirectory(path)
    }

    deinit { try? Self.removeTree(at: path, using: files) }

    /// Returns the path of `name` in the directory.
    package func path(of name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, creates missing parent directories, and returns the file's path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws(SystemError) -> String {
        let target = path(of: name)
        if let parent = target.parentPath { try files.makeDirectories(parent) }
        let file = try files.open(target, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try files.write(bytes, to: file)
        return target
    }

    /// Reads a file.
    package func contents(of name: String) throws(SystemError) -> [UInt8] { try files.contents(of: path(of: name)) }

    /// Removes `path` with its contents; makes inaccessible directories accessible first.
    private static func removeTree(at path: String, using files: FileSystem) throws(SystemError) {
        guard try files.linkStatus(of: path).kind == .directory else { return try files.unlink(path) }
        chmod(path, 0o700)
        for name in try files.entryNames(in: path) { try removeTree(at: "\(path)/\(name)", using: files) }
        try files.removeDirectory(path)
    }
}
