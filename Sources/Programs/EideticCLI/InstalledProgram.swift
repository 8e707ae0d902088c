import EideticCore
import Glibc

/// The other programs of Eidetic on this machine.
package enum InstalledProgram {
    /// The Debian package with the programs of background execution and transfers.
    package static let backgroundPackage = "eidetic-background"

    /// Returns a Boolean value indicating whether a program is beside this one, or in `PATH`.
    static func exists(_ name: String) -> Bool {
        let beside = (try? FileSystem().linkTarget(of: "/proc/self/exe"))?.parentPath
        let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let directories = search.split(separator: ":").map(String.init) + (beside.map { [$0] } ?? [])
        return directories.contains { access("\($0)/\(name)", X_OK) == 0 }
    }
}
