import EideticCore
import Glibc

/// A cache's directory, which is created and checked when the cache is opened.
struct DiskDirectory {
    let layout: DiskLayout
    let files: FileSystem

    private static let signature = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This file is a cache directory tag created by Eidetic.
        # For information about cache directory tags, see https://bford.info/cachedir/

        """

    /// Creates the directory if necessary, checks the access rights, and returns the limits that apply to it.
    ///
    /// If the background time has expired, no file is written.
    func prepare(
        _ configuration: DiskCache.Configuration,
        within workGroup: BackgroundWorkGroup
    ) throws(EideticError) -> DiskLimits {
        let work = try? workGroup.begin()
        defer { work?.end() }
        do throws(SystemError) {
            if configuration.isReadOnly, try isMissing { return DiskLimits(configuration, totalSize: 0) }
            try open(isReadOnly: configuration.isReadOnly)
            if !configuration.isReadOnly, work != nil { writeTag() }
            return try DiskLimits(configuration: configuration, files: files)
        } catch {
            throw Self.error(error, directory: layout.directory)
        }
    }

    /// Creates the directory, and returns `true` if it did not exist.
    private func makeIfMissing() throws(SystemError) -> Bool {
        guard try isMissing else { return false }
        try files.makeDirectories(layout.directory)
        return true
    }

    /// A Boolean value indicating whether the directory does not exist; what only reads finds an empty cache then.
    private var isMissing: Bool {
        get throws(SystemError) {
            do throws(SystemError) {
                _ = try files.status(of: layout.directory)
                return false
            } catch  where error.errorNumber == ENOENT {
                return true
            }
        }
    }

    /// Creates the directory again after it was removed.
    func recreate() throws(SystemError) {
        try files.makeDirectories(layout.directory)
        try checkTrust()
    }

    func makeShard(of key: CacheKey) throws(SystemError) {
        do throws(SystemError) {
            try files.makeDirectory(layout.shardPath(of: key))
        } catch  where error.errorNumber == ENOENT {
            try recreate()
            try files.makeDirectories(layout.shardPath(of: key))
        } catch {
            // Another process may have created it in between.
            guard error.errorNumber == EEXIST else { throw error }
        }
    }

    /// Throws if other users could change the directory; a part of its path that does not exist is no reason.
    func checkTrust(isReadOnly: Bool = false) throws(SystemError) {
        guard layout.requiresPrivateDirectory else { return }
        let trust = DirectoryTrust(files: files, isReadOnly: isReadOnly)
        guard let violation = try trust.violation(in: layout.directory) else { return }
        throw SystemError(.lstat, errorNumber: EPERM, path: layout.directory, violation: violation)
    }

    private func open(isReadOnly: Bool) throws(SystemError) {
        try checkTrust(isReadOnly: isReadOnly)
        // Another user may have made it in between.
        if !isReadOnly, try makeIfMissing() { try checkTrust() }
        guard try files.status(of: layout.directory).kind == .directory else {
            throw SystemError(.stat, errorNumber: ENOTDIR, path: layout.directory)
        }
        let permissions = isReadOnly ? R_OK | X_OK : R_OK | W_OK | X_OK
        try files.checkAccess(to: layout.directory, mode: permissions)
    }

    /// Writes the tag that excludes the directory from backups.
    ///
    /// A failure, for example on a full disk, is ignored: the next opening tries again.
    private func writeTag() {
        if (try? files.linkStatus(of: layout.tagPath)) != nil { return }
        do throws(SystemError) {
            try files.replaceContents(of: layout.tagPath, with: Array(Self.signature.utf8))
        } catch {
            Log.write(.warning, category: .store, message: "CACHEDIR.TAG could not be written: \(error)")
        }
    }

    static func error(_ error: SystemError, directory: String) -> EideticError {
        let code: EideticError.Code =
            switch error.errorNumber {
            case _ where error.violation != nil: .cacheUnavailable
            case ENOTDIR, EEXIST, ENOENT, ELOOP, ENAMETOOLONG: .cacheUnavailable
            default: EideticError(error).code
            }
        return EideticError(
            code,
            message: "the cache directory \(directory) cannot be used: \(error)",
            systemErrorNumber: error.errorNumber
        )
    }
}

enum ProcessEnvironment {
    /// The number of the effective user.
    static var userNumber: UInt32 { geteuid() }

    /// Returns the value of an environment variable, or `nil` if it is not set.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    static var cacheDirectory: String {
        if let directory = directory(in: "CACHE_DIRECTORY") ?? directory(in: "XDG_CACHE_HOME") { return directory }
        if let home = directory(in: "HOME") { return "\(home)/.cache" }
        return "/var/tmp/eidetic-\(userNumber)"
    }

    /// Returns the first path in an environment variable, if it is absolute and not the root directory.
    private static func directory(in name: String) -> String? {
        let path = variable(name)?.prefix { $0 != ":" || name != "CACHE_DIRECTORY" }
        return path.flatMap { $0.hasPrefix("/") && $0.contains { $0 != "/" } ? String($0) : nil }
    }
}
