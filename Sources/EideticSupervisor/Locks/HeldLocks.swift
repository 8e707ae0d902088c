import Glibc

/// The file locks of stopped processes, and those of them that others need.
package enum HeldLocks {
    /// A lock that a suspended application must not hold.
    package struct Violation: Sendable, Hashable {
        package let process: Int32
        /// The path of the locked file.
        package let path: String
        /// A Boolean value indicating whether another process waits for the lock.
        package let isAwaited: Bool

        /// The result for processes with too many open files, which are neither suspended nor killed for it.
        package static let tooManyFiles = Violation(process: 0, path: "", isAwaited: false)
    }

    /// Returns the first lock that another process waits for, or that admits changes to a directory of Eidetic: byte 0
    /// of its lock file.
    ///
    /// `/proc/locks` does not name the process of a lock that belongs to an open file, so the open files are read. The
    /// processes must be stopped: their own threads then wait for nothing.
    package static func violation(of processes: [Int32]) -> Violation? {
        let text = KernelFile.read("/proc/locks") ?? ""
        let contended = FileLock.contended(in: text)
        // Mostly there are none, which saves reading every open file.
        guard !contended.isEmpty || FileLock.all(in: text).contains(where: admitsChanges) else { return nil }
        guard hasFewFiles(processes) else { return .tooManyFiles }
        let locks = processes.flatMap { heldLocks(of: $0) }
        for (process, descriptor, key) in locks {
            let isAwaited = contended.contains(key)
            guard isAwaited || admitsChanges(key) else { continue }
            let path = filePath(of: descriptor, in: process)
            guard isAwaited || isEideticLock(path, of: process) else { continue }
            return Violation(process: process, path: path, isAwaited: isAwaited)
        }
        return nil
    }

    private static func hasFewFiles(_ processes: [Int32]) -> Bool {
        var left = fileLimit
        for process in processes {
            left -= KernelFile.names(in: "/proc/\(process)/fd", limit: left + 1).count
            if left < 0 { return false }
        }
        return true
    }

    /// The greatest number of open files that are looked at, which takes less than 0.1 s.
    private static let fileLimit = 10_000

    /// Returns whether a lock may be that of byte 0; the kernel joins it with that of a cache instance, such as 0 to 1.
    private static func admitsChanges(_ key: FileLock.Key) -> Bool {
        key.start == 0 && key.end != nil && key.kind == "OFDLCK" && key.mode == "WRITE"
    }

    /// Reads the locks of a process's open files.
    private static func heldLocks(of process: Int32) -> [(process: Int32, descriptor: String, key: FileLock.Key)] {
        let directory = "/proc/\(process)/fdinfo"
        return KernelFile.names(in: directory).flatMap { name in
            (KernelFile.read("\(directory)/\(name)") ?? "").split(separator: "\n").filter { $0.hasPrefix("lock:") }
                .compactMap { FileLock(line: $0) }.map { (process, name, $0.key) }
        }
    }

    private static func filePath(of descriptor: String, in process: Int32) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink("/proc/\(process)/fd/\(descriptor)", $0, buffer.count)) } ?? 0
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether a file is the lock of a cache directory: "lock" beside the "ledger" that the process has open.
    ///
    /// The directory itself is not looked into, as its file system may hang. A ledger that another process has replaced
    /// counts too.
    private static func isEideticLock(_ path: String, of process: Int32) -> Bool {
        guard path.hasSuffix("/lock") else { return false }
        let ledger = path.dropLast(4) + "ledger"
        return KernelFile.names(in: "/proc/\(process)/fd").contains { descriptor in
            let open = filePath(of: descriptor, in: process)
            return open == ledger || open == ledger + " (deleted)"
        }
    }
}
