package import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

/// Performs the transfers of all applications of a directory.
///
/// It is created and used on one thread, that of ``run(server:)``. Other threads use its ``inbox``.
package final class TransferEngine {
    let configuration: TransferEngineConfiguration
    let store: TransferStore
    let loop: FileTransferLoop
    let clock: ActiveClock
    package let inbox: TransferInbox
    let syncWorker: SyncWorker
    private let lock: FileDescriptor
    private let routes = RouteSocket()
    /// A Boolean value indicating whether ``run(server:)`` ends.
    package private(set) var isStopping = false
    var queue = TransferQueue()
    var deadlines = DeadlineHeap()
    var running: [UInt64: RunningTransfer] = [:]
    /// The last failures of transfers, for their status.
    var lastErrors: [UInt64: EideticError] = [:]
    let finishing: FinishingTransfers
    var conditions: ConditionWatch
    var shares = ConnectionShares()
    var space: DiskSpace
    let copies: UploadCopies
    package let delivery: EventDelivery
    var commits = CommitQueue()

    var fileSystem: FileSystem { configuration.fileSystem }
    var time: any TimeSource { configuration.time }

    /// Opens the directory.
    ///
    /// - Throws: `refused` if another process has it; an error of the file system.
    package init(_ configuration: TransferEngineConfiguration, inbox: TransferInbox) throws(EideticError) {
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
        finishing = FinishingTransfers(files: configuration.fileSystem, inbox: inbox, syncWorker: syncWorker)
        conditions = ConditionWatch(configuration.conditions, interval: configuration.conditionInterval)
        space = DiskSpace(
            of: configuration.directory,
            limit: configuration.diskLimit,
            reservedBytes: configuration.reservedBytes,
            files: configuration.fileSystem
        )
        copies = UploadCopies(files: configuration.fileSystem, inbox: inbox)
        delivery = EventDelivery(store, time: configuration.time)
        inbox.connect(loop.wakeUp)
        for row in store.rows.values.sorted(by: { $0.number < $1.number }) where !row.state.isTerminal {
            deadlines.insert(row.number, at: row.deadline)
            if row.state == .waiting { makeReady(row.number) }
        }
    }

    /// A Boolean value indicating whether nothing is to be done before another command.
    package var isIdle: Bool {
        running.isEmpty && finishing.isEmpty && copies.isEmpty && !commits.isUnderWay && inbox.isEmpty
            && !store.sessions.values.contains { $0.openCount > 0 }
    }

    func pause(_ number: UInt64) throws(EideticError) {
        guard store.rows[number]?.state != .paused else { return }
        try store.setPaused(true, of: number)
        conditions.release(number)
        guard let transfer = running[number] else { return }
        release(transfer)
        transfer.keepPart()
        updateKeptBytes(of: transfer)
    }

    func resume(_ number: UInt64) throws(EideticError) {
        guard let row = store.rows[number], row.state != .running else { return }
        if row.state == .paused { try store.setPaused(false, of: number) }
        store.rows[number]?.notBefore = .zero
        makeReady(number)
    }

    func cancel(_ number: UInt64, reason: TransferEvent.CancellationReason, keepsResumeData: Bool) {
        if let transfer = running[number] {
            release(transfer)
            if keepsResumeData { transfer.keepPart() }
        }
        let data = keepsResumeData ? keptParts.keep(number) : nil
        end(number, with: .cancelled(reason: reason, resumeData: data))
    }

    var keptParts: KeptParts { KeptParts(store: store, syncWorker: syncWorker) }

    func acknowledge(_ events: [UInt64], by application: TransferApplication) throws(EideticError) {
        removeAfterCommit(try store.acknowledge(events, by: application))
        delivery.resetWakePauses(of: application)
    }

    /// Cancels all transfers of an application that the user has quit by force, and does not launch it for their
    /// events.
    ///
    /// It is launched for events again after it has opened or observed the session.
    package func forceQuit(_ name: String) {
        let application = store.application(named: name)
        for session in application.sessions.values {
            session.isForceQuit = true
            for row in store.rows.values where row.session == session.number && !row.state.isTerminal {
                guard !finishing.contains(row.number) else { continue }
                cancel(row.number, reason: .userForceQuit, keepsResumeData: false)
            }
        }
    }
}

// MARK: The loop
extension TransferEngine {
    /// Works until ``stop()``.
    ///
    /// - Parameter server: The server, whose descriptors are polled as well; `nil` if there is none.
    package func run(server: TransferServer? = nil) {
        delivery.announceFinishedSessions()
        // Nobody may wake the loop after a restart.
        startTransfers()
        while !isStopping { turn(server) }
        for work in inbox.close() { work(self) }
        stopTransfers()
        copies.stop()
        commitAtEnd()
        syncWorker.stop()
        finishing.stop()
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

    /// Ends ``run(server:)``; what has arrived is kept.
    package func stop() { isStopping = true }

    private func turn(_ server: TransferServer?) {
        var descriptors = routes.map { [PollDescriptor($0.descriptor)] } ?? []
        let ownCount = descriptors.count
        descriptors += server?.descriptors ?? []
        loop.wait(for: &descriptors, timeout: timeout(server?.nextDeadline))
        clock.advance(to: SystemTime().uptime, isIdle: running.isEmpty)
        if ownCount == 1, descriptors[0].returnedEvents != 0, routes?.readChanges() ?? false { networkReturned() }
        for work in inbox.takeAll() { work(self) }
        // After the work, which may have been the last: the server then measures how long nothing is to be done.
        server?.handle(Array(descriptors[ownCount...]), for: self)
        loop.run()
        decodeBodies()
        retryEnds()
        wakeDueTransfers()
        delivery.retryWakes()
        for number in conditions.check(at: time.uptime) { makeReady(number) }
        tick()
        shareConnections()
        startTransfers()
        commit()
    }

    private func timeout(_ serverDeadline: Duration?) -> Duration? {
        if running.values.contains(where: { $0.decoding != nil }) { return .zero }
        if !running.isEmpty || finishing.hasUnrecordedEnds { return ActiveClock.maximumWait }
        let own = [deadlines.first?.time, conditions.deadline, delivery.deadline, commits.deadline]
        let next = (own + [serverDeadline]).compactMap(\.self).min()
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
    /// Makes the last changes safe, and replies to those who wait for that.
    private func commitAtEnd() {
        var failure: EideticError?
        do throws(SystemError) {
            try store.journal.flush()
            if commits.isAwaited { try fileSystem.synchronizeData(store.journal.file.descriptor) }
        } catch {
            Log.write(.error, category: .fetch, message: "the journal of transfers cannot be written: \(error)")
            failure = Self.stopping
        }
        for body in commits.end(with: failure) { body() }
    }

    /// Synchronises the journal for all that waits, unless that is already under way.
    private func commit() {
        guard commits.begin(hasEvents: delivery.hasUnsafeEvents, at: time.uptime) else { return }
        let lastEvent = store.nextEvent - 1
        do throws(SystemError) {
            _ = try store.compactIfNeeded()
            try store.journal.flush()
            eraseReplacedJournal()
        } catch {
            return retryCommit(after: error)
        }
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
        let files = fileSystem
        let path = store.journal.path
        syncWorker.add(.work { try? Journal.erase(replaced, replacedAt: path, with: files) })
    }

    private func didCommit(lastEvent: UInt64, failure: SystemError?) {
        if let failure { return retryCommit(after: failure) }
        delivery.safeEvent = lastEvent
        store.eraseSecrets(upTo: lastEvent)
        for body in commits.complete() { body() }
        delivery.deliver()
        store.forgetOutcomes(upTo: lastEvent)
    }

    private func retryCommit(after error: SystemError) {
        Log.write(.error, category: .fetch, message: "the journal of transfers cannot be written: \(error)")
        for body in commits.fail(at: time.uptime) { body() }
    }
}
