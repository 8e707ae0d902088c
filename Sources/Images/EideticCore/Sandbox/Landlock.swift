import CLinux
import Glibc

/// Restrictions on files by the kernel's Landlock, for processes that read what strangers send.
package enum Landlock {
    /// The version of the kernel; 0 if it has none, or it is switched off.
    package static var version: Int { Int(eidetic_landlock_version()) }

    /// Restricts this process to some files, for good; new privileges must be forbidden before.
    ///
    /// - Parameters:
    ///   - readable: The files, and the directories whose files may be read.
    ///   - writable: Those that may be changed as well.
    /// - Returns: `true` if the restriction was applied; otherwise, `false`, and `errno` has the reason.
    package static func restrict(readable: [String], writable: [String]) -> Bool {
        let copies = (readable + writable).map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let paths = copies.map { $0.map { UnsafePointer($0) } }
        let result = paths.withUnsafeBufferPointer { paths in
            eidetic_landlock_restrict(
                paths.baseAddress,
                readable.count,
                paths.baseAddress.map { $0 + readable.count },
                writable.count
            )
        }
        return result == 0
    }
}
