import EideticCore
import Glibc

/// The directory of a disk cache, which several processes change in transactions; its first use opens it.
///
/// The hooks for evicted entries are called around a transaction, outside of its locks.
final class SharedDirectory: Sendable {
    /// The parts that the file system decides when the directory is opened.
    private struct Opened: Sendable {
        var limits: DiskLimits
        let ledger: Monitor<Ledger>
        /// The reason why the directory cannot be used; `nil` if it can.
        let failure: EideticError?
    }

    private struct State {
        var isStarted = false
        var opened: Opened?
        var hooks = DiskCache.Hooks()
    }

    let configuration: DiskCache.Configuration
    let layout: DiskLayout
    let reader: EntryReader
    let time: any TimeSource
    let ages: EntryAges
    let key: DirectoryKey
    let work: DiskWork
    private let circuitBreaker: WriteCircuitBreaker
    private let state = Monitor(State())

    init(
        _ configuration: DiskCache.Configuration,
        files: FileSystem,
        time: any TimeSource,
        provider: any BackgroundTaskProvider
    ) {
        self.configuration = configuration
        self.time = time
        layout = DiskLayout(configuration)
        reader = EntryReader(files: files)
        ages = EntryAges(configuration)
        key = DirectoryKey(directory: configuration.directory, files: files)
        work = DiskWork(group: BackgroundWorkGroup(named: "eidetic disk cache", provider: provider))
        circuitBreaker = WriteCircuitBreaker(time: time)
    }

    var files: FileSystem { reader.files }
}

// MARK: Opening
extension SharedDirectory {
    var limits: DiskLimits { opened.limits }

    /// Changes the largest size of all entries, from the next transaction on.
    func setSizeLimit(_ limit: ByteCount) {
        _ = opened
        state.withLock { $0.opened?.limits.setTotalSize(limit) }
    }

    var ledger: Monitor<Ledger> { opened.ledger }

    /// Throws if the directory cannot be used.
    func checkOpened() throws(EideticError) { if let failure = opened.failure { throw failure } }

    /// Throws if the directory cannot be changed.
    func checkWritable() throws(EideticError) {
        try checkOpened()
        guard !configuration.isReadOnly else {
            throw EideticError(.permissionDenied, message: "the cache at \(layout.directory) is read-only")
        }
        try circuitBreaker.check()
    }

    /// The opened directory: the first thread that needs it opens it, and others wait for that.
    private var opened: Opened {
        let (opened, isFirst) = state.withLock { state in
            defer { state.isStarted = true }
            return (state.opened, !state.isStarted)
        }
        if let opened { return opened }
        if isFirst { open() }
        return state.wait { $0.opened }
    }

    private func open() {
        var failure: EideticError?
        var limits = DiskLimits(configuration, totalSize: 0)
        do throws(EideticError) {
            limits = try DiskDirectory(layout: layout, files: files).prepare(configuration, within: work.group)
        } catch {
            Log.write(.warning, category: .store, message: "no disk cache: \(error.message)")
            failure = error
        }
        let ledger = Ledger(layout: layout, files: files, limits: limits, isReadOnly: configuration.isReadOnly)
        let opened = Opened(limits: limits, ledger: Monitor(ledger), failure: failure)
        let recordsEvictedKeys = state.withLock { state in
            state.opened = opened
            return state.hooks.didEvict != nil
        }
        if recordsEvictedKeys { opened.ledger.withLock { $0.evictedKeys = [] } }
        state.broadcast()
    }
}

// MARK: Transactions
extension SharedDirectory {
    /// Runs `body` while no other thread or process changes the directory.
    func transaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        let opened = opened
        if let failure = opened.failure {
            let number = failure.systemErrorNumber ?? EACCES
            throw SystemError(.open, errorNumber: number, path: layout.directory)
        }
        defer { notifyDidEvict(from: opened.ledger) }
        return try opened.ledger.withLock { ledger throws(SystemError) in
            let ledger = ledger
            ledger.limits = opened.limits
            return try ledger.transaction { () throws(SystemError) in try body(ledger) }
        }
    }

    /// Runs `body` in a transaction that the background task covers; for operations that only read otherwise.
    func coveredTransaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(EideticError) -> Value {
        try work.group.run { () throws(EideticError) in
            do throws(SystemError) { return try transaction(body) } catch { throw named(error) }
        }
    }

    /// Runs `body` in a transaction if the cache may write, with errors for users.
    func writeTransaction<Value: Sendable>(
        _ body: (Ledger) throws(SystemError) -> Value
    ) throws(EideticError) -> Value {
        try checkWritable()
        return try recordingFailures { () throws(SystemError) in try transaction(body) }
    }

    /// Runs a change with errors for users; a failure of the device stops further writes.
    func recordingFailures<Value>(_ change: () throws(SystemError) -> Value) throws(EideticError) -> Value {
        do throws(SystemError) {
            return try change()
        } catch {
            circuitBreaker.record(error)
            throw named(error)
        }
    }

    /// The error for users, which names the directory also if the call had an open file only.
    private func named(_ error: SystemError) -> EideticError {
        if error.violation != nil { return DiskDirectory.error(error, directory: layout.directory) }
        let error = EideticError(error)
        if error.message.contains(layout.directory) { return error }
        return error.replacingMessage(with: "the cache at \(layout.directory): \(error.message)")
    }
}

// MARK: Hooks
extension SharedDirectory {
    /// The functions to call before and after changes.
    var hooks: DiskCache.Hooks {
        get { state.withLock { $0.hooks } }
        set {
            // Those that were there are released without the lock.
            let (replaced, opened) = state.withLock { state in
                defer { state.hooks = newValue }
                return (state.hooks, state.opened)
            }
            withExtendedLifetime(replaced) {}
            opened?.ledger.withLock { $0.evictedKeys = newValue.didEvict == nil ? nil : [] }
        }
    }

    /// Calls the `willEvict` hook for each entry that a change is going to evict.
    func notifyWillEvict(_ victims: (Ledger) throws(SystemError) -> [IndexEntry]) {
        guard let willEvict = hooks.willEvict else { return }
        let keys = try? transaction { ledger throws(SystemError) in
            try victims(ledger).compactMap { ledger.storedKey(of: $0.key) }
        }
        for key in keys ?? [] { willEvict(key) }
    }

    /// Calls the `didEvict` hook for each entry evicted since the last call.
    private func notifyDidEvict(from ledger: Monitor<Ledger>) {
        guard let didEvict = hooks.didEvict else { return }
        let keys = ledger.withLock { ledger in
            defer { if ledger.evictedKeys != nil { ledger.evictedKeys = [] } }
            return ledger.evictedKeys ?? []
        }
        for key in keys { didEvict(key) }
    }
}

// MARK: Reconciliation
extension SharedDirectory {
    /// Schedules a comparison of the ledger with the files if the machine has restarted since the ledger was written.
    ///
    /// A power cut may have lost files, or records of files.
    func scheduleReconciliationIfNeeded() {
        let isNeeded = ledger.withLock { ledger in
            defer { ledger.isReconciliationScheduled = true }
            return ledger.needsReconciliation && !ledger.isReconciliationScheduled
        }
        guard isNeeded else { return }
        work.schedule(for: self) {
            $0.reconcile(context: $1)
        } onRefusal: {
            $0.postponeReconciliation()
        }
    }

    /// Lets the next write schedule the comparison again.
    private func postponeReconciliation() { ledger.withLock { $0.isReconciliationScheduled = false } }

    private func reconcile(context: JobContext) {
        do throws(SystemError) {
            for shard in DiskLayout.shards {
                if context.isCancelled { return postponeReconciliation() }
                try transaction { ledger throws(SystemError) in try ledger.reconcile(shard: shard) }
            }
            try transaction { ledger throws(SystemError) in
                ledger.needsReconciliation = false
                try ledger.rewrite()
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(layout.directory) could not be reconciled: \(error)")
        }
    }
}
