package import EideticCore
package import EideticFetch
import EideticTransfer
import Glibc

/// Performs the transfers of all applications of a directory.
///
/// It is created and used on one thread, that of ``run(host:)``. Other threads use its ``inbox``.
package final class TransferEngine {
    let configuration: TransferEngineConfiguration
    let store: TransferStore
    let loop: FileTransferLoop
    let clock: ActiveClock
    package let inbox: EngineInbox
    let syncWorker: SyncWorker
    /// Writes small bodies to their files, also while the journal is synchronised.
    let fileWorker: SyncWorker
    let copyWorkers: CopyWorkers
    private let lock: FileDescriptor
    private let routes = RouteSocket()
    /// A Boolean value indicating whether ``run(host:)`` ends.
    package private(set) var isStopping = false

    // Scheduling.
    var queue = TransferQueue()
    var deadlines = DeadlineHeap()
    var running: [UInt64: RunningTransfer] = [:]
    /// The transfers whose bodies are complete and are being made safe.
    var finishing: Set<UInt64> = []
    /// The discretionary transfers that wait for conditions.
    var held: Set<UInt64> = []
    var unmetConditions: [WaitReason] = []
    var nextConditionCheck: Duration = .zero
    var nextShareCheck: Duration = .zero
    package var isMetered = false
    /// The last failures of transfers, for their status.
    var lastErrors: [UInt64: EideticError] = [:]
    var cachedDiskLimit: Int?

    // Delivery.
    var observers: [UInt32: [Observer]] = [:]
    var committedEvent: UInt64
    var changedSessions: Set<UInt32> = []
    /// The sessions whose application could not be woken, and is to be woken later.
    var failedWakes: Set<UInt32> = []
    private var afterCommit: [CommitHandler] = []
    private var afterCurrentCommit: [CommitHandler] = []
    /// A function that is called when the changes before it are safe, or with the error for which they are not.
    typealias CommitHandler = (TransferEngine, EideticError?) -> Void
    /// The commands whose files are being copied.
    var pendingCopies: [UInt64: (application: TransferApplication, completion: CopyHandler)] = [:]
    typealias CopyHandler = ([UploadCopy], EideticError?) -> Void
    /// The ends that could not be recorded, and the uptime at which that is attempted again.
    var unrecordedEnds: [UnrecordedEnd] = []
    var endNotBefore: Duration = .zero
    /// The bytes that may be written before the free space is looked at again.
    var freeSpace: (bytes: Int, checked: Duration)?
    var lastCopy: UInt64 = 0
    /// The functions that are called after the next attempt to write the journal, and after the current one.
    private var afterAttempt: [() -> Void] = []
    private var afterCurrentAttempt: [() -> Void] = []
    private var isCommitting = false
    /// The uptime of the next attempt to write the journal, after a failure.
    private var commitNotBefore: Duration = .zero
    /// A function that is called when a session has finished that nobody observes: the application is to be launched.
    package var onWake: (_ application: String, _ session: String) -> Void = { _, _ in }

    var fileSystem: FileSystem { configuration.fileSystem }
    var time: any TimeSource { configuration.time }

    /// Opens the directory.
    ///
    /// - Throws: `refused` if another process has it; an error of the file system.
    package init(_ configuration: TransferEngineConfiguration, inbox: EngineInbox) throws(EideticError) {
        self.configuration = configuration
        self.inbox = inbox
        lock = try EngineLock.take(
            of: configuration.directory,
            isReplaceable: configuration.isReplaceable,
            with: configuration.fileSystem
        )
        store = try TransferStore(
            directory: configuration.directory,
            fileSystem: configuration.fileSystem,
            time: configuration.time,
            boot: configuration.boot
        )
        let clock = ActiveClock(uptime: SystemTime().uptime)
        self.clock = clock
        loop = FileTransferLoop(configuration: configuration.connections) { clock.now }
        syncWorker = SyncWorker(name: "transfer-sync", fileSystem: configuration.fileSystem)
        fileWorker = SyncWorker(name: "transfer-files", fileSystem: configuration.fileSystem)
        copyWorkers = CopyWorkers(fileSystem: configuration.fileSystem)
        committedEvent = store.nextEvent - 1
        inbox.connect(loop.wakeUp)
        for row in store.rows.values.sorted(by: { $0.number < $1.number }) where !row.state.isTerminal {
            deadlines.insert(row.number, at: row.deadline)
            if row.state == .waiting { makeReady(row.number) }
        }
    }

    /// A Boolean value indicating whether nothing is to be done before another command.
    package var isIdle: Bool {
        running.isEmpty && finishing.isEmpty && pendingCopies.isEmpty && !isCommitting && inbox.isEmpty
            && !store.sessions.values.contains {
                $0.openCount > 0
            }
    }
}

// MARK: The loop
extension TransferEngine {
    /// Works until ``stop()``.
    ///
    /// - Parameter host: The owner of further descriptors; `nil` if there are none.
    package func run(host: (any TransferEngineHost)? = nil) {
        announceFinishedSessions()
        // Nobody may wake the loop after a restart.
        startTransfers()
        while !isStopping { turn(host) }
        for work in inbox.close() { work(self) }
        stopTransfers()
        abandonCopies()
        commitAtEnd()
        syncWorker.stop()
        fileWorker.stop()
        try? fileSystem.lock(lock, operation: LOCK_UN)
    }

    /// The reply to commands that are not carried out because the engine stops: the client repeats them over the next
    /// connection, as after the loss of this one.
    static let stopping = EideticError(.connectionLost, message: "the transfer process is being stopped")

    /// Records the sockets at which clients reach this process, for clients that know the directory only.
    package func publish(socketPaths: [String]) {
        do throws(SystemError) {
            try ServiceOwner.record(socketPaths, in: lock, with: fileSystem)
        } catch {
            Log.write(.warning, category: .fetch, message: "the sockets of transfers cannot be recorded: \(error)")
        }
    }

    /// Ends ``run(host:)``; what has arrived is kept.
    package func stop() { isStopping = true }

    private func turn(_ host: (any TransferEngineHost)?) {
        var descriptors = routes.map { [PollDescriptor($0.descriptor)] } ?? []
        let ownCount = descriptors.count
        descriptors += host?.descriptors ?? []
        loop.wait(for: &descriptors, timeout: timeout(host?.nextDeadline))
        clock.advance(to: SystemTime().uptime, isIdle: running.isEmpty)
        if ownCount == 1, descriptors[0].returnedEvents != 0, routes?.readChanges() ?? false { networkReturned() }
        for work in inbox.takeAll() { work(self) }
        // After the work, which may have been the last: the host then measures how long nothing is to be done.
        host?.handle(Array(descriptors[ownCount...]), for: self)
        loop.run()
        decodeBodies()
        retryEnds()
        wakeDueTransfers()
        retryWakes()
        checkConditions()
        tick()
        shareConnections()
        startTransfers()
        commit()
    }

    private func timeout(_ hostDeadline: Duration?) -> Duration? {
        if running.values.contains(where: { $0.decoding != nil }) { return .zero }
        if !running.isEmpty || !unrecordedEnds.isEmpty { return ActiveClock.maximumWait }
        let conditionCheck = held.isEmpty ? nil : nextConditionCheck
        let next = [deadlines.first?.time, conditionCheck, hostDeadline].compactMap { $0 }.min()
        return next.map { max(.zero, $0 - time.uptime) }
    }

    private func stopTransfers() {
        for transfer in running.values {
            if let exchange = transfer.exchange { loop.cancel(exchange) }
            transfer.keepPart()
        }
    }
}

// MARK: The journal
extension TransferEngine {
    /// Calls a function on this thread after the changes so far are safe.
    func afterNextCommit(_ body: @escaping CommitHandler) { afterCommit.append(body) }

    /// Makes the last changes safe, and replies to those who wait for that.
    private func commitAtEnd() {
        var failure: EideticError?
        do throws(SystemError) {
            try store.journal.flush()
            if !(afterCurrentCommit + afterCommit).isEmpty {
                try fileSystem.synchronizeData(store.journal.file.descriptor)
            }
        } catch {
            Log.write(.error, category: .fetch, message: "the journal of transfers cannot be written: \(error)")
            failure = Self.stopping
        }
        for body in afterCurrentCommit + afterCommit { body(self, failure) }
        afterCurrentCommit = []
        afterCommit = []
        for body in afterCurrentAttempt + afterAttempt { body() }
        afterCurrentAttempt = []
        afterAttempt = []
    }

    /// A Boolean value indicating whether a change waits for the journal, which can be written.
    var hasUnsafeChanges: Bool { (isCommitting || !afterCommit.isEmpty) && time.uptime >= commitNotBefore }

    /// Calls a function on this thread after the changes so far are safe, or could not be written for now.
    func afterNextAttempt(_ body: @escaping () -> Void) { afterAttempt.append(body) }

    /// Synchronises the journal for all that waits, unless that is already under way.
    private func commit() {
        guard !isCommitting, !afterCommit.isEmpty || !afterAttempt.isEmpty || committedEvent + 1 < store.nextEvent,
            time.uptime >= commitNotBefore
        else { return }
        afterCurrentCommit = afterCommit
        afterCurrentAttempt = afterAttempt
        afterCommit = []
        afterAttempt = []
        let lastEvent = store.nextEvent - 1
        do throws(SystemError) {
            _ = try store.compactIfNeeded()
            try store.journal.flush()
            eraseReplacedJournal()
        } catch {
            return retryCommit(after: error)
        }
        isCommitting = true
        let file = store.journal.file
        let invalid = store.takeInvalidPlaces()
        syncWorker.add(
            .journal(file) { [inbox, fileSystem] error in
                // Before those who wait are told; what a failure leaves is erased at the next start.
                if error == nil { try? file.erase(invalid, with: fileSystem) }
                inbox.post { $0.didCommit(lastEvent: lastEvent, failure: error) }
            }
        )
    }

    /// Erases the file that a compaction has replaced, which has secrets.
    private func eraseReplacedJournal() {
        guard let replaced = store.journal.takeReplacedFile() else { return }
        let (files, path) = (fileSystem, store.journal.path)
        syncWorker.add(.work { try? Journal.erase(replaced, replacedAt: path, with: files) })
    }

    private func didCommit(lastEvent: UInt64, failure: SystemError?) {
        isCommitting = false
        if let failure { return retryCommit(after: failure) }
        committedEvent = lastEvent
        store.eraseSecrets(upTo: lastEvent)
        let work = afterCurrentCommit
        afterCurrentCommit = []
        for body in work { body(self, nil) }
        endAttempt()
        deliver()
    }

    private func endAttempt() {
        let work = afterCurrentAttempt
        afterCurrentAttempt = []
        for body in work { body() }
    }

    /// Keeps what waits for a journal that cannot be written, and tries again in a second.
    private func retryCommit(after error: SystemError) {
        Log.write(.error, category: .fetch, message: "the journal of transfers cannot be written: \(error)")
        afterCommit = afterCurrentCommit + afterCommit
        afterCurrentCommit = []
        endAttempt()
        deadlines.insert(0, at: time.uptime + .seconds(1))
        commitNotBefore = time.uptime + .seconds(1)
    }
}

/// The owner of descriptors that are polled together with the engine's.
package protocol TransferEngineHost: AnyObject {
    /// The descriptors, and the events to wait for.
    var descriptors: [PollDescriptor] { get }
    /// The uptime at which it is to be called without an event; `nil` for none.
    var nextDeadline: Duration? { get }
    /// Handles the events; called in each turn of the loop.
    func handle(_ descriptors: [PollDescriptor], for engine: TransferEngine)
}
