import EideticCore
import Glibc

/// Makes a cache's directory, or finds out why it cannot be used.
struct DiskDirectory {
    let layout: DiskLayout
    let files: FileSystem

    private static let signature = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This file is a cache directory tag created by Eidetic.
        # For information about cache directory tags, see https://bford.info/cachedir/

        """

    /// Makes the directory usable, and gives the limits that hold in it.
    func prepare(_ configuration: DiskCache.Configuration) throws(EideticError) -> DiskLimits {
        do throws(SystemError) {
            try open(isReadOnly: configuration.isReadOnly)
            return try DiskLimits(configuration: configuration, files: files)
        } catch {
            throw Self.error(error, directory: layout.directory)
        }
    }

    private func open(isReadOnly: Bool) throws(SystemError) {
        if !isReadOnly { try files.makeDirectories(layout.directory) }
        guard try files.status(of: layout.directory).kind == .directory else {
            throw SystemError(.stat, errorNumber: ENOTDIR, path: layout.directory)
        }
        let permissions = isReadOnly ? R_OK | X_OK : R_OK | W_OK | X_OK
        try files.checkAccess(to: layout.directory, mode: permissions)
        if !isReadOnly { writeTag() }
    }

    /// Tells backup programs to leave the directory out.
    ///
    /// A full disk is no reason not to open: the next time will do.
    private func writeTag() {
        if (try? files.linkStatus(of: layout.tagPath)) != nil { return }
        do throws(SystemError) {
            try Array(Self.signature.utf8).withUnsafeBufferPointer { bytes throws(SystemError) in
                try files.replaceContents(of: layout.tagPath, with: UnsafeRawBufferPointer(bytes))
            }
        } catch {
            Log.write(.warning, category: .store, message: "no CACHEDIR.TAG: \(error)")
        }
    }

    static func error(_ error: SystemError, directory: String) -> EideticError {
        let code: EideticError.Code =
            switch error.errorNumber {
            case ENOTDIR, EEXIST, ENOENT, ELOOP, ENAMETOOLONG: .cacheUnavailable
            default: EideticError(error).code
            }
        return EideticError(
            code,
            message: "cache directory \(directory) cannot be used: \(error)",
            systemErrorNumber: error.errorNumber
        )
    }
}
