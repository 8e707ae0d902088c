public import EideticCore

/// A cache on disk: one verified file for each entry, safe against kills, full disks and damaged files.
///
/// - Each file holds its key, its lengths and checksums of all its bytes. What does not match is a miss, and goes.
/// - A write goes to a temporary file and is renamed, so nobody ever sees half of an entry.
/// - Key → path is a pure function: a read needs no index, takes no lock and writes nothing.
/// - Several processes may use one directory at the same time.
///
/// The plain functions block on file work, and must not be called on the main actor or from asynchronous code; the
/// `async` forms run on threads of the cache.
/// - SeeAlso: Cache Directory Tagging Specification, https://bford.info/cachedir/
public final class DiskCache: Sendable {
    /// How the cache works.
    public let configuration: Configuration

    let layout: DiskLayout
    let files: FileSystem
    let time: any TimeSource
    let environment: any ApplicationEnvironment
    let pool = WorkPool(name: "eidetic-disk", width: 4)

    /// Opens the cache at a directory, and makes the directory where it is not there.
    ///
    /// Nothing is scanned: the time does not depend on the number of entries. Throws `cacheUnavailable` where a file
    /// stands in the directory's place, `permissionDenied` where the user may not use it, `diskFull` where there is
    /// no room to make it, and `invalidArgument` for a path that is not absolute or limits that are not above zero.
    public convenience init(_ configuration: Configuration) throws(EideticError) {
        try self.init(configuration, fileSystem: FileSystem())
    }

    /// Opens the cache with other means than the system's own.
    package init(
        _ configuration: Configuration,
        fileSystem: FileSystem = FileSystem(),
        time: any TimeSource = SystemTime(),
        environment: any ApplicationEnvironment = ForegroundOnly()
    ) throws(EideticError) {
        try configuration.check()
        self.configuration = configuration
        layout = DiskLayout(directory: configuration.directory)
        files = fileSystem
        self.time = time
        self.environment = environment
        try DiskDirectory(layout: layout, files: files).prepare(isReadOnly: configuration.isReadOnly)
    }

    /// The absolute path of the file in which `key` is stored, or would be.
    ///
    /// The file begins with the entry's bytes; its key and checksums follow them.
    public func path(for key: String) -> String { layout.path(of: CacheKey(key)) }

    /// When an entry with this metadata stops being served.
    func expiry(of metadata: Metadata) -> Timestamp { metadata.expires ?? metadata.stored + configuration.maximumAge }
}

extension DiskCache.Configuration {
    /// Throws `invalidArgument` for what cannot work.
    func check() throws(EideticError) {
        guard directory.hasPrefix("/"), !directory.utf8.contains(0) else {
            throw EideticError(.invalidArgument, "cache directory \"\(directory)\": not an absolute path")
        }
        if let sizeLimit, sizeLimit <= .zero {
            throw EideticError(.invalidArgument, "size limit of the disk cache: \(sizeLimit.bytes) is not above zero")
        }
        guard maximumAge > .zero else {
            throw EideticError(.invalidArgument, "maximum age of the disk cache: \(maximumAge) is not above zero")
        }
    }
}
