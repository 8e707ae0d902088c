public import EideticCore
import Glibc

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
    public var sizeLimit: ByteCount { ByteCount(limits.totalSize) }

    let layout: DiskLayout
    let files: FileSystem
    let reader: EntryReader
    package let time: any TimeSource
    let accessLog = AccessLog()
    let circuitBreaker: WriteCircuitBreaker
    let workGroup: BackgroundWorkGroup
    let pool = WorkPool(name: "eidetic-disk", maximumThreadCount: 4, isForFiles: true)
    let hooks = Guarded(Hooks())
    let directoryKey: DirectoryKey
    private let opening: DiskCacheOpening
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
        try self.init(configuration, environment: DefaultEnvironment.shared)
    }

    /// Opens the cache in an environment, whose background tasks and phases it uses.
    package convenience init(
        _ configuration: Configuration,
        environment: any ApplicationEnvironment
    ) throws(EideticError) {
        try self.init(configuration, fileSystem: FileSystem(), environment: environment)
    }

    /// Opens the cache with a given file system and clock.
    package convenience init(
        _ configuration: Configuration,
        fileSystem: FileSystem,
        time: any TimeSource = SystemTime(),
        environment: any ApplicationEnvironment = DefaultEnvironment.shared
    ) throws(EideticError) {
        try self.init(deferred: configuration, fileSystem: fileSystem, time: time, environment: environment)
        try checkOpened()
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
        try configuration.validate()
        let configuration = configuration.resolved
        self.configuration = configuration
        layout = DiskLayout(configuration)
        files = fileSystem
        directoryKey = DirectoryKey(directory: configuration.directory, files: fileSystem)
        reader = EntryReader(files: fileSystem)
        self.time = time
        workGroup = BackgroundWorkGroup(named: "eidetic disk cache", provider: environment)
        opening = DiskCacheOpening(configuration, files: fileSystem, workGroup: workGroup)
        circuitBreaker = WriteCircuitBreaker(time: time)
        if !configuration.isReadOnly { observe(environment) }
    }

    deinit { observation.withLock { $0?.cancel() } }

    /// Returns the absolute path of a key's file, which need not exist.
    ///
    /// The file begins with the entry's bytes, followed by the key, the metadata and the checksums. For a request with
    /// header fields or credentials, the first call reads the directory's secret key from its file.
    public func path(for key: String) -> String { layout.path(of: CacheKey(storedKeyForReading(key))) }

    /// Removes expired entries whenever the application enters the background.
    private func observe(_ environment: any ApplicationEnvironment) {
        let phases = environment.phases
        let task = Task.detached { [weak self] in
            for await phase in phases where phase == .background { self?.scheduleRemovalOfExpired() }
        }
        observation.withLock { $0 = task }
    }
}

// MARK: Opening
extension DiskCache {
    /// The limits of the directory; opens it if that was not done yet.
    var limits: DiskLimits { opening.directory.limits }

    /// The ledger of the directory; opens it if that was not done yet.
    var ledger: Monitor<Ledger> { opening.directory.ledger }

    /// Throws if the directory cannot be used; opens it if that was not done yet.
    func checkOpened() throws(EideticError) { if let failure = opening.directory.failure { throw failure } }

    /// Makes the ledger record evicted keys if there is a hook for them.
    func recordEvictedKeys(_ isNeeded: Bool) { opening.recordEvictedKeys(isNeeded) }
}

// MARK: Transactions
extension DiskCache {
    /// Returns `true` if a text can be a key: 1 to 65,536 bytes.
    static func isValidKey(_ text: String) -> Bool { (1...EntryFile.keySizeLimit).contains(text.utf8.count) }

    /// Runs `body` while no other thread or process changes the directory.
    func inTransaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        if let failure = opening.directory.failure {
            let number = failure.systemErrorNumber ?? EACCES
            throw SystemError(.open, errorNumber: number, path: layout.directory)
        }
        defer { notifyDidEvict() }
        return try ledger.withLock { ledger throws(SystemError) in
            let ledger = ledger
            return try ledger.transaction { () throws(SystemError) in try body(ledger) }
        }
    }

    /// Runs `body` in a transaction that the background task covers; for operations that only read otherwise.
    func coveredTransaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(EideticError) -> Value {
        try covered { () throws(EideticError) in
            do throws(SystemError) { return try inTransaction(body) } catch { throw EideticError(error) }
        }
    }

    /// Runs `body` in a transaction if the cache may write, with errors for users.
    func inWriteTransaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(EideticError) -> Value {
        try checkWritable()
        do throws(SystemError) {
            return try inTransaction(body)
        } catch {
            circuitBreaker.record(error)
            throw EideticError(error)
        }
    }

    /// Calls the `didEvict` hook for each entry evicted since the last call.
    private func notifyDidEvict() {
        guard let didEvict = currentHooks.didEvict else { return }
        let keys = ledger.withLock { ledger in
            defer { if ledger.evictedKeys != nil { ledger.evictedKeys = [] } }
            return ledger.evictedKeys ?? []
        }
        for key in keys { didEvict(key) }
    }

    func checkWritable() throws(EideticError) {
        try checkOpened()
        guard !configuration.isReadOnly else {
            throw EideticError(.permissionDenied, message: "the cache at \(layout.directory) is read-only")
        }
        try circuitBreaker.check()
    }
}
