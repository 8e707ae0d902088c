import EideticStore
import Glibc

/// The disk cache that a command line selects.
enum CacheLocation {
    /// Returns the configuration of the cache in `--cache-dir`, or in the user's default directory.
    static func configuration(from arguments: Arguments) -> DiskCache.Configuration {
        let named = arguments[CommonOptions.cacheDirectory]
        return DiskCache.Configuration(directory: named.map(absolutePath) ?? DiskCache.defaultDirectory())
    }

    /// Returns the absolute path; a relative path is resolved in the working directory.
    private static func absolutePath(for path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }
}
