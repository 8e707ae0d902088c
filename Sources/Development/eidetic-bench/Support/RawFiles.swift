import EideticCore
import Glibc

/// Unprotected file operations, as the baseline of the disk cache: bare system calls without checks.
struct RawFiles {
    private let root: String
    private let suffix: String

    /// Creates the directories below `root` for files with this suffix.
    init(root: String, suffix: String = "") {
        self.root = root
        self.suffix = suffix
        try? FileSystem().makeDirectories(root)
        for shard in 0..<256 { mkdir("\(root)/\(shard < 16 ? "0" : "")\(String(shard, radix: 16))", 0o700) }
    }

    private func path(for key: String) -> String {
        let name = CacheKey(key).hexadecimal
        return "\(root)/\(name.prefix(2))/\(name)\(suffix)"
    }

    func write(_ body: [UInt8], for key: String) -> Bool {
        let path = path(for: key)
        let temporary = path + ".tmp"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let written = Glibc.write(file, body, body.count)
        close(file)
        return written == body.count && rename(temporary, path) == 0
    }

    func read(_ key: String, size: Int) -> Bool {
        let file = open(path(for: key), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        let body = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Glibc.read(file, buffer.baseAddress, size))
        }
        close(file)
        return body.count == size
    }

    func unlink(_ key: String) { _ = Glibc.unlink(path(for: key)) }

    /// Removes a directory with its contents.
    static func removeTree(_ path: String) {
        let files = FileSystem()
        for name in (try? files.entryNames(in: path)) ?? [] {
            let child = "\(path)/\(name)"
            if (try? files.linkStatus(of: child).kind) == .directory {
                removeTree(child)
            } else {
                try? files.unlink(child)
            }
        }
        try? files.removeDirectory(path)
    }
}
