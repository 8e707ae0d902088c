import EideticCore
import Glibc

/// Where both sides put the bodies: files in memory, written over each time.
final class FetchSink: Sendable {
    private let directory = "/dev/shm/eidetic-bench-\(getpid())"

    init() throws(SystemError) { try FileSystem().makeDirectory(directory, mode: 0o700) }

    deinit {
        for name in (try? FileSystem().names(in: directory)) ?? [] { unlink(path(name)) }
        rmdir(directory)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func write(_ bytes: [UInt8], name: String) throws(SystemError) {
        let path = path(name)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError(.open, errno, path: path) }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw SystemError(.write, errno, path: path) }
    }
}

/// The most memory that this process has had in use since `reset`.
enum MemoryPeak {
    /// Lets the kernel count anew.
    ///
    /// - SeeAlso: proc_pid_clear_refs(5).
    static func reset() {
        let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = Glibc.write(file, "5", 1)
        close(file)
    }

    /// `VmHWM`; `nil` where the system does not say.
    static var bytes: Int? {
        guard let status = try? FileSystem().contents(of: "/proc/self/status") else { return nil }
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1_024 }
    }
}
