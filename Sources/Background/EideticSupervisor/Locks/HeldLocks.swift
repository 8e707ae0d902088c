import EideticCore
import Glibc

/// The file locks of stopped processes, and those of them that others need.
package enum HeldLocks {
    /// A lock that a suspended application must not hold.
    package struct Violation: Sendable, Hashable {
        package let process: Int32
        package let path: String
        /// A Boolean value indicating whether another process waits for the lock.
        package let isAwaited: Bool

        /// The result for processes with too many open files, which are neither suspended nor killed for it.
        package static let tooManyFiles = Violation(process: 0, path: "", isAwaited: false)
    }

    /// An open file, by the number of the process and that of the descriptor.
    private struct OpenFile {
        let process: Int32
        let descriptor: String
        let path: String
    }

    /// The number of open files that are looked at without looking at the list of all locks first.
    private static let directLimit = 256
    /// The greatest number of open files that are looked at, which takes less than 0.1 s.
    private static let fileLimit = 10_000

    /// Returns the first lock that another process waits for, or that admits changes to a directory of Eidetic: byte 0
    /// of its lock file, which has a mark.
    ///
    /// `/proc/locks` does not name the process of a lock that belongs to an open file, so the open files are read. The
    /// list comes last, as it stops all file locks of the machine for a grace period of the kernel, 7 to 30 ms; first
    /// only where reading all files would take as long. The processes must be stopped: their own threads then wait for
    /// nothing.
    package static func violation(of processes: [Int32]) -> Violation? {
        if let files = openFiles(of: processes, limit: directLimit) { return violation(in: files) }
        let text = KernelFile.read("/proc/locks") ?? ""
        guard !FileLock.contended(in: text).isEmpty || FileLock.all(in: text).contains(where: admitsChanges) else {
            return nil
        }
        guard let files = openFiles(of: processes, limit: fileLimit) else { return .tooManyFiles }
        return violation(in: files)
    }

    private static func violation(in files: [OpenFile]) -> Violation? {
        let locked = files.map { ($0, heldLocks(of: $0)) }.filter { !$1.keys.isEmpty }
        guard !locked.isEmpty else { return nil }
        let contended = FileLock.contended(in: KernelFile.read("/proc/locks") ?? "")
        for (file, locks) in locked {
            for key in locks.keys {
                let isAwaited = contended.contains(key)
                guard isAwaited || locks.areOfCache && admitsChanges(key) else { continue }
                return Violation(process: file.process, path: file.path, isAwaited: isAwaited)
            }
        }
        return nil
    }

    /// Returns the open files that have a place in a file system, as others have no locks; `nil` if there are more
    /// files of any kind than the limit.
    private static func openFiles(of processes: [Int32], limit: Int) -> [OpenFile]? {
        var files: [OpenFile] = []
        var left: Int = limit
        for process in processes {
            let names = KernelFile.names(in: "/proc/\(process)/fd", limit: left + 1)
            left -= names.count
            if left < 0 { return nil }
            for name in names {
                let path = filePath(of: name, in: process)
                if path.hasPrefix("/") { files.append(OpenFile(process: process, descriptor: name, path: path)) }
            }
        }
        return files
    }

    /// Returns whether a lock may be that of byte 0; the kernel joins it with that of a cache instance, such as 0 to 1.
    private static func admitsChanges(_ key: FileLock.Key) -> Bool {
        key.start == 0 && key.end != nil && key.kind == "OFDLCK" && key.mode == "WRITE"
    }

    /// Reads the locks of an open file; of the lock file of a cache only that of byte 0, as nobody waits for others.
    private static func heldLocks(of file: OpenFile) -> (keys: [FileLock.Key], areOfCache: Bool) {
        let text = KernelFile.read("/proc/\(file.process)/fdinfo/\(file.descriptor)") ?? ""
        let keys = text.utf8.split(separator: 10).map { Substring($0) }.filter { $0.hasPrefix("lock:") }
            .compactMap { FileLock(line: $0)?.key }
        guard keys.contains(where: isCacheMark) else { return (keys, false) }
        return (keys.filter { $0.start == DirectoryLockByte.changes }, true)
    }

    private static func isCacheMark(_ key: FileLock.Key) -> Bool {
        key.kind == "OFDLCK" && key.mode == "READ" && key.start == DirectoryLockByte.mark && key.end == key.start
    }

    private static func filePath(of descriptor: String, in process: Int32) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink("/proc/\(process)/fd/\(descriptor)", $0, buffer.count)) } ?? 0
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
