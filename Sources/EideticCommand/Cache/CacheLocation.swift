import EideticStore
import Glibc

/// Where the cache is that a command line means.
enum CacheLocation {
    /// The configuration of the cache that `--cache-dir` names, or of the user's own.
    static func configuration(from arguments: Arguments) -> DiskCache.Configuration {
        let named = arguments[CommonOptions.cacheDirectory]
        return DiskCache.Configuration(directory: named.map(absolutePath) ?? DiskCache.defaultDirectory())
    }

    /// The path from the root; one that is relative begins at the working directory.
    private static func absolutePath(for path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }
}
