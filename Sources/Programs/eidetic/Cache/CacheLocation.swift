import EideticCLI
import EideticCore
import EideticStore
import Glibc

/// The disk cache that a command line selects.
enum CacheLocation {
    /// Returns the configuration of the cache in `--cache-dir`, or in the user's default directory.
    ///
    /// A directory that cannot be written is only read, as are those of `--bundle`.
    static func configuration(from arguments: Arguments) -> DiskCache.Configuration {
        let directory = arguments[CommonOptions.cacheDirectory] ?? DiskCache.defaultDirectory()
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.isReadOnly = isReadOnly(directory)
        configuration.bundles = arguments.values(of: CommonOptions.bundle).map { ImageBundle(directory: $0) }
        return configuration
    }

    /// Opens the cache that a command line selects.
    ///
    /// A query makes no directory; one that does not exist is an empty cache.
    ///
    /// - Throws: `permissionDenied` if a part of the cache cannot be read.
    static func open(from arguments: Arguments, isQuery: Bool) throws(EideticError) -> DiskCache {
        var configuration = configuration(from: arguments)
        if isQuery { configuration.isReadOnly = true }
        let files = FileSystem()
        for name in (try? files.entryNames(in: configuration.directory)) ?? [] where name == "ledger" || name.count == 2
        {
            let path = "\(configuration.directory)/\(name)"
            do throws(SystemError) {
                try files.checkAccess(to: path, mode: name == "ledger" ? R_OK : R_OK | X_OK)
            } catch  where error.errorNumber == EACCES {
                throw EideticError(.permissionDenied, message: "the cache cannot be read: \(path): Permission denied")
            } catch {
                // Another process has removed it.
            }
        }
        return try DiskCache(configuration)
    }

    private static func isReadOnly(_ directory: String) -> Bool {
        let files = FileSystem()
        // One that cannot even be read fails when it is opened, with the reason.
        guard (try? files.checkAccess(to: directory, mode: R_OK | X_OK)) != nil else { return false }
        return (try? files.checkAccess(to: directory, mode: W_OK)) == nil
    }
}
