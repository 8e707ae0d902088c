public import EideticCore
public import EideticHTTP

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
    ///
    /// The next write keeps a changed limit, of at least one byte; ``trim(toSize:)`` evicts at once. It holds for this
    /// process, and is not stored.
    public var sizeLimit: ByteCount {
        get { ByteCount(directory.limits.totalSize) }
        set { directory.setSizeLimit(newValue) }
    }

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

    /// Functions that a cache calls before and after it changes its entries.
    ///
    /// They are called on the thread that makes the change, never while a lock is held, and may use the cache. Changes
    /// by other processes, or by other caches of the same directory, do not call them.
    public struct Hooks: Sendable {
        /// A function called before an entry is written, with its key and size in bytes.
        public var willAdd: (@Sendable (_ key: String, _ size: Int) -> Void)?
        /// A function called after an entry was written; not called if the write failed.
        public var didAdd: (@Sendable (_ key: String, _ size: Int) -> Void)?
        /// A function called before an entry is removed by its key.
        public var willRemove: (@Sendable (_ key: String) -> Void)?
        /// A function called after an entry was removed by its key; not called if there was none.
        public var didRemove: (@Sendable (_ key: String) -> Void)?
        /// A function called before an entry is evicted or removed because it has expired, while it can still be read.
        ///
        /// The selection is a prediction: if another process changes the directory at the same time, other entries may
        /// be evicted. With this hook set, each selection takes time proportional to the number of entries.
        public var willEvict: (@Sendable (_ key: String) -> Void)?
        /// A function called after this cache evicted an entry or removed it because it had expired.
        public var didEvict: (@Sendable (_ key: String) -> Void)?
        /// A function called after all entries were removed.
        public var didRemoveAll: (@Sendable () -> Void)?

        /// Creates hooks that do nothing.
        public init() {}
    }

    /// A description of an entry without its bytes.
    public struct EntryInfo: Sendable, Hashable {
        /// The key as stored, which contains header fields and credentials only as a digest made with the directory's
        /// key.
        public let key: String
        /// The absolute path of the entry's file, which begins with the entry's bytes.
        public let path: String
        /// The size of the value.
        public let size: ByteCount
        /// The space that the file uses on the device.
        public let allocatedSize: ByteCount
        /// The metadata of the entry.
        public let metadata: Metadata
        /// A Boolean value indicating whether the entry has expired.
        public let isExpired: Bool
        /// The checksum of the value (XXH3), which is not verified.
        package let bodyChecksum: UInt64
    }

    /// Reads an entry.
    ///
    /// The file is opened, read and closed once, and all of its bytes are verified. A file that is damaged or belongs
    /// to another key is removed.
    ///
    /// - Parameters:
    ///   - key: The key; an empty one has no entry.
    ///   - allowingExpired: Whether an expired entry is returned, too, for example to revalidate it; `false` by
    ///     default.
    /// - Returns: The entry, or `nil` if there is none or it has expired.
    /// - Throws: `cancelled` if the task is cancelled before the read starts, `permissionDenied`, or `fileFailure` if
    ///   the device fails; no error for a damaged entry.
    nonisolated(nonsending) public func read(
        _ key: String,
        allowingExpired: Bool = false
    ) async throws(EideticError) -> Entry? {
        try await work.pool.run { _ throws(EideticError) in
            try self.lookup.read(key, allowingExpired: allowingExpired)
        }
    }

    /// Returns `true` if `read` would find an entry.
    ///
    /// The entry's bytes are not read, so damage to them is not detected.
    nonisolated(nonsending) public func contains(_ key: String) async throws(EideticError) -> Bool {
        try await work.pool.run { _ throws(EideticError) in try self.lookup.contains(key) }
    }

    /// The number and size of all entries, over all processes that use the directory.
    ///
    /// If the ledger cannot be read, or background time has expired, these are the last known values. For a read-only
    /// directory without a ledger the files are counted.
    /// - Complexity: O(1), and O(*n*) in the number of changes by other processes since the last access.
    nonisolated(nonsending) public var usage: Usage {
        get async throws(EideticError) { try await work.pool.run { _ throws(EideticError) in self.scan.usage() } }
    }

    /// Returns all entries, in no order.
    ///
    /// - Complexity: O(*n*) file reads in the number of entries.
    nonisolated(nonsending) public func entries() async throws(EideticError) -> [EntryInfo] {
        try await work.pool.run { _ throws(EideticError) in try self.scan.entries() }
    }

    /// A stored value with its key and metadata.
    public struct Entry: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The value.
        public let bytes: [UInt8]
        /// The metadata of the value.
        public let metadata: Metadata

        /// Creates an entry.
        public init(key: String, bytes: [UInt8], metadata: Metadata = Metadata()) {
            self.key = key
            self.bytes = bytes
            self.metadata = metadata
        }
    }

    /// The metadata stored with an entry's bytes.
    public struct Metadata: Sendable, Hashable {
        /// The time of the write; zero, the default, means the current time.
        public var storageTime = Timestamp(nanoseconds: 0)
        /// The time at which the entry expires; `nil`, the default, means the cache's maximum age after `storageTime`.
        public var expirationTime: Timestamp?
        /// The header fields; none by default.
        public var headers: [HTTPHeaders.Field] = []
        /// The facts about the response that are not in its header fields; none by default.
        package var response = ResponseRecord()
        /// Additional bytes for the caller's use; none by default.
        package var extendedData: [UInt8] = []
        /// The kind of the entry; original by default.
        package var kind = EntryKind.original
        /// The importance of the entry; `viewed` by default.
        package var importance = EntryImportance.viewed

        /// Creates metadata.
        public init(expirationTime: Timestamp? = nil, headers: [HTTPHeaders.Field] = []) {
            self.expirationTime = expirationTime
            self.headers = headers
        }
    }

    /// The number and size of a cache's entries.
    public struct Usage: Sendable, Hashable {
        package init() {}

        /// The number of entries.
        public var entryCount = 0
        /// The sum of the file sizes.
        public var logicalSize = ByteCount.zero
        /// The space that the files use on the device.
        public var allocatedSize = ByteCount.zero
    }

    package var time: any TimeSource { directory.time }

    /// The threads of the cache, and the background task that covers their work.
    package var work: DiskWork { directory.work }

    package var lookup: EntryLookup { EntryLookup(directory: directory, accesses: accesses) }

    /// The passes over all files.
    package var scan: DirectoryScan { DirectoryScan(directory: directory) }

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

extension DiskCache.EntryInfo {
    init(_ summary: EntryReader.EntrySummary, path: String, in directory: SharedDirectory) {
        let (footer, status, now) = (summary.footer, summary.status, directory.time.now)
        self.init(
            key: footer.key,
            path: path,
            size: ByteCount(footer.bodySize),
            allocatedSize: ByteCount(status.allocatedSize),
            metadata: footer.metadata,
            isExpired: directory.ages.isExpired(footer.metadata, modified: status.modificationTime, at: now),
            bodyChecksum: footer.bodyChecksum
        )
    }
}
