import CLinux
package import EideticCore
import EideticFetch
import Glibc

/// The restrictions of the transfer process, which cannot be removed again.
package enum Sandbox {
    /// The directories that name resolution and TLS read.
    private static let readablePaths = [
        "/usr", "/lib", "/lib64", "/etc", "/run/systemd/resolve", "/run/nscd", "/run/NetworkManager",
        "/proc/pressure", "/proc/sys/kernel", "/proc/sys/net", "/sys/class/power_supply", "/sys/devices", "/dev/null",
        "/dev/urandom", "/var/lib/ca-certificates",
    ]

    /// The files of name resolution and TLS that may be symbolic links to other directories.
    private static let linkedPaths = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/ssl/certs",
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    ]

    /// Returns the directories of the targets of symbolic links, so that a target that is replaced can be read as well.
    ///
    /// Of a directory that others than root may change, only the target is returned.
    package static func linkedDirectories(of paths: [String]) -> [String] {
        let files = FileSystem()
        return paths.compactMap { path in
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            let target = String(cString: resolved)
            guard target != path, let slash = target.lastSlash, slash != target.startIndex else { return nil }
            let directory = String(target[..<slash])
            // The directory of all homes, or of all that is mounted, has more than configuration.
            guard directory.dropFirst().contains("/"), let status = try? files.status(of: directory),
                status.owner == 0, status.permissions & 0o022 == 0
            else { return target }
            return directory
        }
    }

    /// Restricts this process; must be called before it starts threads.
    ///
    /// New privileges are forbidden. Landlock, if the kernel has it, allows to change files in the directory of the
    /// transfers only, and to read those of the system. seccomp forbids to start programs, to send signals to others,
    /// and to listen.
    ///
    /// - Throws: `refused` if the kernel has a restriction and does not apply it.
    package static func enter(_ options: ServiceOptions) throws(EideticError) {
        try require(eidetic_forbid_new_privileges() == 0, of: "no_new_privs")
        if restrictsFiles(landlockVersion: Landlock.version) {
            let readable =
                readablePaths + linkedDirectories(of: linkedPaths)
                + (options.connections.certificateAuthorityFile.map { [$0] } ?? [])
            try require(Landlock.restrict(readable: readable, writable: [options.directory]), of: "Landlock")
        } else {
            Log.write(
                .warning,
                category: .fetch,
                message: "the kernel has no Landlock of version 2: files are not restricted"
            )
        }
        try require(eidetic_restrict_system_calls() == 0, of: "seccomp")
    }

    /// Returns a Boolean value indicating whether files are restricted with a version of Landlock.
    ///
    /// Version 1 forbids to move files from one directory to another one, which ends each download.
    package static func restrictsFiles(landlockVersion: Int) -> Bool { landlockVersion >= 2 }

    private static func require(_ isDone: Bool, of name: String) throws(EideticError) {
        guard !isDone else { return }
        let reason = SystemError.message(for: errno)
        throw EideticError(.refused, message: "\(name) cannot be applied: \(reason); --no-sandbox leaves it out")
    }
}
