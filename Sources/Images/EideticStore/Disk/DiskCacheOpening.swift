import EideticCore

/// The opening of a disk cache's directory, by the first thread that needs it; others wait for it.
final class DiskCacheOpening: Sendable {
    /// The parts of a cache that depend on its directory.
    struct Directory: Sendable {
        let limits: DiskLimits
        let ledger: Monitor<Ledger>
        /// The reason why the directory cannot be used; `nil` if it can.
        let failure: EideticError?
    }

    private struct State {
        var isStarted = false
        var directory: Directory?
        var recordsEvictedKeys = false
    }

    private let configuration: DiskCache.Configuration
    private let files: FileSystem
    private let workGroup: BackgroundWorkGroup
    private let state = Monitor(State())

    init(_ configuration: DiskCache.Configuration, files: FileSystem, workGroup: BackgroundWorkGroup) {
        self.configuration = configuration
        self.files = files
        self.workGroup = workGroup
    }

    /// The directory; blocks until it was opened.
    var directory: Directory {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst { open() }
        return state.wait { $0.directory }
    }

    /// Makes the ledger record evicted keys, also one that does not exist yet.
    func recordEvictedKeys(_ isNeeded: Bool) {
        let directory = state.withLock { state in
            state.recordsEvictedKeys = isNeeded
            return state.directory
        }
        directory?.ledger.withLock { $0.evictedKeys = isNeeded ? [] : nil }
    }

    private func open() {
        let layout = DiskLayout(configuration)
        var failure: EideticError?, limits = DiskLimits(configuration, totalSize: 0)
        do throws(EideticError) {
            limits = try DiskDirectory(layout: layout, files: files).prepare(configuration, within: workGroup)
        } catch {
            Log.write(.warning, category: .store, message: "no disk cache: \(error.message)")
            failure = error
        }
        let ledger = Ledger(layout: layout, files: files, limits: limits, isReadOnly: configuration.isReadOnly)
        let directory = Directory(limits: limits, ledger: Monitor(ledger), failure: failure)
        let recordsEvictedKeys = state.withLock { state in
            state.directory = directory
            return state.recordsEvictedKeys
        }
        if recordsEvictedKeys { directory.ledger.withLock { $0.evictedKeys = [] } }
        state.broadcast()
    }
}
