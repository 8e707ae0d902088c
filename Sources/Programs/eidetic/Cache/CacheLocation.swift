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

    private static func isReadOnly(_ directory: String) -> Bool {
        let files = FileSystem()
        // One that cannot even be read fails when it is opened, with the reason.
        guard (try? files.checkAccess(to: directory, mode: R_OK | X_OK)) != nil else { return false }
        return (try? files.checkAccess(to: directory, mode: W_OK)) == nil
    }
}
