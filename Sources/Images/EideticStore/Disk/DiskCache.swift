public import EideticCore

/// A cache of bytes on disk, safe against kills, full file systems and damaged files.
///
/// - Each entry is one file, which holds its key, its sizes and checksums of all of its bytes. A file that fails
///   verification is a miss, and is removed.
/// - An entry is written to a temporary file and renamed, so no reader finds an incomplete entry.
/// - The path is a pure function of the key: a read needs no index, takes no lock and writes nothing.
/// - Several processes may use one directory at the same time. The size limit applies to all of them together, at all
///   times. The file system must be local.
///
/// The asynchronous operations run on threads of the cache. ``blocking`` has the same operations for code that is not
/// asynchronous.
/// - SeeAlso: Cache Directory Tagging Specification, https://bford.info/cachedir/
public final class DiskCache: Sendable {
    /// The settings of the cache.
    public let configuration: Configuration

    /// The largest size of all entries on the device: ``Configuration/sizeLimit``, or the default that replaces `nil`.
    public var sizeLimit: ByteCount { ByteCount(directory.limits.totalSize) }

    let directory: SharedDirectory
    private let accesses: AccessLog
    private let observation = Guarded<Task<Void, Never>?>(nil)

    /// Opens the cache in a directory, and creates the directory if it does not exist.
    ///
    /// Nothing is scanned, so the time does not depend on the number of entries. Expired entries are removed when the
    /// application of this process enters the background.
    ///
    /// - Parameter configuration: The settings of the cache.
    /// - Throws: `cacheUnavailable` if another file is at the directory's path or other users could change the
    ///   directory, `permissionDenied`, `diskFull` if the directory cannot be created, or `invalidArgument` for a
    ///   setting out of its range.
    public convenience init(_ configuration: Configuration) throws(EideticError) {
        try self.init(configuration, fileSystem: FileSystem())
    }

    /// Opens the cache with a given file system and clock, in an environment whose background tasks and phases it uses.
    package convenience init(
        _ configuration: Configuration,
        fileSystem: FileSystem = FileSystem(),
        time: any TimeSource = SystemTime(),
        environment: any ApplicationEnvironment = DefaultEnvironment.shared
    ) throws(EideticError) {
        try self.init(deferred: configuration, fileSystem: fileSystem, time: time, environment: environment)
        try directory.checkOpened()
    }

    /// Creates a cache whose directory is opened by the first operation, on the thread of that operation.
    ///
    /// If the directory cannot be used, every operation throws the reason.
    ///
    /// - Throws: `invalidArgument` for a setting out of its range.
    package init(
        deferred configuration: Configuration,
        fileSystem: FileSystem = FileSystem(),
        time: any TimeSource = SystemTime(),
        environment: any ApplicationEnvironment = DefaultEnvironment.shared
    ) throws(EideticError) {
        try DiskLimits.validate(configuration)
        var settings = configuration
        settings.directory = DiskLayout.absolutePath(of: configuration.directory)
        self.configuration = settings
        directory = SharedDirectory(settings, files: fileSystem, time: time, provider: environment)
        accesses = AccessLog(of: directory)
        if !configuration.isReadOnly { observe(environment) }
    }

    deinit { observation.withLock { $0?.cancel() } }

    /// Returns the absolute path of a key's file, which need not exist.
    ///
    /// The file begins with the entry's bytes, followed by the key, the metadata and the checksums. For a request with
    /// header fields or credentials, the first call reads the directory's secret key from its file.
    public func path(for key: String) -> String { directory.layout.path(of: CacheKey(storedKeyForReading(key))) }

    /// Replaces the functions that the cache calls before and after it changes its entries.
    public func setHooks(_ hooks: Hooks) { directory.hooks = hooks }

    /// Removes expired entries whenever the application enters the background.
    private func observe(_ environment: any ApplicationEnvironment) {
        let phases = environment.phases
        let task = Task.detached { [weak directory] in
            for await phase in phases where phase == .background {
                if let directory { EntryRemoval(directory: directory).scheduleRemovalOfExpired() }
            }
        }
        observation.withLock { $0 = task }
    }
}

// MARK: Parts
extension DiskCache {
    /// The clock of the cache.
    package var time: any TimeSource { directory.time }

    /// The threads of the cache, and the background task that covers their work.
    package var work: DiskWork { directory.work }

    /// The reads.
    package var lookup: EntryLookup { EntryLookup(directory: directory, accesses: accesses) }

    /// The passes over all files.
    package var scan: DirectoryScan { DirectoryScan(directory: directory) }

    /// The writes.
    package var writer: EntryWriter { EntryWriter(directory: directory, accesses: accesses) }

    var removal: EntryRemoval { EntryRemoval(directory: directory) }

    /// Returns the form of a key in which an entry is searched.
    package func storedKeyForReading(_ key: String) -> String { directory.key.keyForReading(key) }

    /// Returns the form of a key in which an entry is written; creates the directory's key if that is needed.
    package func storedKeyForWriting(_ key: String) throws(EideticError) -> String {
        try directory.key.keyForWriting(key)
    }

    /// Returns the time until an entry that is read or written now expires; zero for an expired one.
    ///
    /// A storage time of zero stands for the current time.
    package func timeToLive(of metadata: Metadata) -> Duration {
        directory.ages.timeToLive(of: metadata, at: directory.time.now)
    }
}
