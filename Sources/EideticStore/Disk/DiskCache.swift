public import EideticCore

/// A cache on disk: one verified file for each entry, safe against kills, full disks and damaged files.
///
/// - Each file holds its key, its lengths and checksums of all its bytes. What does not match is a miss, and goes.
/// - A write goes to a temporary file and is renamed, so nobody ever sees half of an entry.
/// - Key → path is a pure function: a read needs no index, takes no lock and writes nothing.
/// - Several processes may use one directory at the same time; the size limit holds for all of them together, at
///   every moment. The file system must be local.
///
/// The plain functions block on file work, and must not be called on the main actor or from asynchronous code; the
/// `async` forms run on threads of the cache.
/// - SeeAlso: Cache Directory Tagging Specification, https://bford.info/cachedir/
public final class DiskCache: Sendable {
    /// How the cache works.
    public let configuration: Configuration

    /// The most bytes that the entries take on the device; what ``Configuration/sizeLimit`` left open is set here.
    public let sizeLimit: ByteCount

    let layout: DiskLayout
    let files: FileSystem
    let reader: EntryReader
    let limits: DiskLimits
    let time: any TimeSource
    let ledger: Monitor<Ledger>
    let accessLog = AccessLog()
    let circuitBreaker: WriteCircuitBreaker
    let workGroup: BackgroundWorkGroup
    let pool = WorkPool(name: "eidetic-disk", maximumThreadCount: 4)
    let hooks = Guarded(Hooks())
    private let observation = Guarded<Task<Void, Never>?>(nil)

    /// Opens the cache at a directory, and makes the directory where it is not there.
    ///
    /// Nothing is scanned: the time does not depend on the number of entries. Throws `cacheUnavailable` where a file
    /// stands in the directory's place, `permissionDenied` where the user may not use it, `diskFull` where there is
    /// no room to make it, and `invalidArgument` for a configuration that cannot work.
    public convenience init(
        _ configuration: Configuration,
        environment: any ApplicationEnvironment = ForegroundEnvironment()
    ) throws(EideticError) {
        try self.init(configuration, fileSystem: FileSystem(), environment: environment)
    }

    /// Opens the cache with other means than the system's own.
    package init(
        _ configuration: Configuration,
        fileSystem: FileSystem,
        time: any TimeSource = SystemTime(),
        environment: any ApplicationEnvironment = ForegroundEnvironment()
    ) throws(EideticError) {
        try configuration.validate()
        self.configuration = configuration
        layout = DiskLayout(directory: configuration.directory)
        files = fileSystem
        reader = EntryReader(files: fileSystem)
        self.time = time
        limits = try DiskDirectory(layout: layout, files: files).prepare(configuration)
        sizeLimit = ByteCount(limits.totalSize)
        ledger = Monitor(Ledger(layout: layout, files: fileSystem, limits: limits))
        circuitBreaker = WriteCircuitBreaker(time: time)
        workGroup = BackgroundWorkGroup(environment)
        if !configuration.isReadOnly { observe(environment) }
    }

    deinit { observation.withLock { $0?.cancel() } }

    /// The absolute path of the file in which `key` is stored, or would be.
    ///
    /// The file begins with the entry's bytes; its key and checksums follow them.
    public func path(for key: String) -> String { layout.path(of: CacheKey(key)) }

    /// Sweeps when the application leaves the foreground (C11).
    private func observe(_ environment: any ApplicationEnvironment) {
        let phases = environment.phases
        let task = Task.detached { [weak self] in
            for await phase in phases where phase == .background { self?.scheduleRemovalOfExpired() }
        }
        observation.withLock { $0 = task }
    }
}

// MARK: The ledger
extension DiskCache {
    /// Whether a text can be a key: 1 to 65,536 bytes.
    static func isValidKey(_ text: String) -> Bool { (1...EntryFile.keySizeLimit).contains(text.utf8.count) }

    /// Changes the directory, with nobody else at it.
    func inTransaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        defer { notifyDidEvict() }
        return try ledger.withLock { ledger throws(SystemError) in
            let ledger = ledger
            return try ledger.transaction { () throws(SystemError) in try body(ledger) }
        }
    }

    /// Tells the hook what was evicted since it was told last.
    private func notifyDidEvict() {
        guard let didEvict = currentHooks.didEvict else { return }
        let keys = ledger.withLock { ledger in
            defer { if ledger.evictedKeys != nil { ledger.evictedKeys = [] } }
            return ledger.evictedKeys ?? []
        }
        for key in keys { didEvict(key) }
    }

    /// As `change`, for who may write, with the errors that users see.
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

    func checkWritable() throws(EideticError) {
        guard !configuration.isReadOnly else {
            throw EideticError(
                .permissionDenied,
                message: "the cache at \(layout.directory) was opened for reading only"
            )
        }
        try circuitBreaker.check()
    }
}
