import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// An application: its state machine, and its processes.
///
/// Performs the effects of the state machine that concern a process from outside, and sends the others to it as
/// messages.
final class SupervisedApplication {
    let identifier: String
    let context: SupervisorContext
    var lifecycle: Lifecycle
    /// The program that was installed with the identifier; `nil` for that of the desktop entry.
    var program: ProgramDescription?
    /// The desktop entry, as it was when the process started.
    var manifest = ManifestDirectories.Lookup.none
    /// The current process; `nil` if none runs.
    var process: RunningProcess? {
        didSet {
            idleSince = process == nil ? Clock.now : nil
            context.changeCount &+= 1
        }
    }
    /// The time since which no process runs; `nil` while one does.
    private(set) var idleSince: Duration?
    /// The processes that have ended or are being killed, while something of them is left.
    var leftovers: [RunningProcess] = []
    /// The number of processes that were started.
    var processNumber: UInt64 = 0
    /// The end of the time in which a process of an earlier supervisor is expected to connect.
    var adoptionDeadline: Duration?
    /// The record of a process of an earlier supervisor, until it connects.
    var adoptedRecord: ApplicationRecord.ProcessRecord?
    /// The record of a process of an earlier supervisor that cannot be taken over, until all applications are restored.
    var lostProcess: ApplicationRecord.ProcessRecord?
    /// The requests that wait for the process of an earlier supervisor to connect.
    var waitingRequests: [LifecycleEvent] = []
    /// The answers to requests for a launch, which wait for the start of the program.
    var launchAnswers: [(_ failure: String?) -> Void] = []
    /// The time at which they are given, whatever has become of the start.
    var launchAnswerTime: Duration?
    /// The senders of URLs who wait for the answer, by the numbers of the URLs.
    var urlSenders: [UInt64: WaitingSender] = [:]
    /// The tokens of URLs without an answer, by the numbers of the URLs, and the latest answers.
    var urlTokens: [UInt64: UInt64] = [:]
    var answeredTokens: [(token: UInt64, failure: String?)] = []
    /// The time of the next look at a process that is being frozen, and the pause before it.
    var freezeCheck: (time: Duration, pause: Duration)?
    /// The time of the next look at the terminal of a suspended job.
    var terminalCheck: Duration?
    /// The time of the next look at what is left of earlier processes, and the pause before it.
    var removalCheck: (time: Duration, pause: Duration)?
    /// The memory priority to set after the effects that the user waits for.
    var nextMemoryPriority: Int?
    var lastSequence: UInt64
    var lastRequest: UInt64 = 0
    /// The time at which the names of open tasks are asked for, before the application may be killed for a callback.
    var namesTime: Duration?
    var lastExit: String?
    var lastRefusal: RefusedUse?
    /// The explanation of the last obstacle, such as a lock that was held at suspension.
    var lastObstacle: String?
    /// The state that decides whether the transfer process holds the events of the application.
    var transferState = TransferState()
    /// The schedule and the notifications of the application.
    var wakeRecord: WakeRecord
    var writtenWakeRecord: WakeRecord?
    /// The wakes that were begun and have no result, by their numbers.
    var activeWakes: [UInt64: ActiveWake] = [:]
    /// The numbers of the notifications of progress that an earlier supervisor has shown, by the work's identifiers.
    var strayProgress: [String: UInt32] = [:]
    /// The sockets that the application has left, by their names.
    var keptSockets: [String: KeptSocket] = [:]
    /// The time of the next look whether the ends of the application during wakes are forgiven.
    var crashCheck: Duration?
    /// The time of the next look at the conditions of processing that runs.
    var conditionCheck: Duration?
    /// The reports that the conditions of processing that runs may have changed.
    var conditionReports: ConditionReports?
    private var writtenRecord: ApplicationRecord?
    /// The events that effects have caused, handled after the current one.
    private var pendingEvents: [LifecycleEvent] = []
    private var isHandlingEvent = false
    /// The event whose effects are being performed.
    private(set) var currentEvent: LifecycleEvent?

    init(identifier: String, context: SupervisorContext) {
        (self.identifier, self.context) = (identifier, context)
        // Unlike the numbers of an earlier supervisor, to which its processes may still refer.
        lastSequence = UInt64(context.generation) << 32
        idleSince = Clock.now
        lifecycle = Lifecycle(rules: context.configuration.rules)
        wakeRecord = WakeRecord(schedule: WakeSchedule(at: context.clock.now))
        refreshManifest()
    }

    /// Passes an event to the state machine, performs the effects, and records the new state.
    func handle(_ event: LifecycleEvent) {
        if event.isStart { refreshManifest() }
        pendingEvents.append(event)
        context.changeCount &+= 1
        guard !isHandlingEvent else { return }
        isHandlingEvent = true
        while !pendingEvents.isEmpty { apply(pendingEvents.removeFirst()) }
        isHandlingEvent = false
        requestIdleReport()
        checkSound(at: Clock.now)
        followContinued(at: Clock.now)
        updateTransferHold()
        updateWakes()
        saveRecord()
    }

    private func apply(_ event: LifecycleEvent) {
        let now = Clock.now
        if case .wake = event { forgiveWakeCrashes() }
        if event != .deadlineReached, let deadline = lifecycle.nextDeadline, deadline <= now {
            perform(transition(on: .deadlineReached, at: now))
        }
        if let count = changedTaskCount {
            perform(transition(on: .openTaskCountChanged(count, process: lifecycle.process), at: now))
        }
        let effects = transition(on: event, at: now)
        currentEvent = event
        perform(effects)
        currentEvent = nil
        for case .refuse(let refusal) in effects { reportRefusal(of: event, because: refusal) }
    }

    /// The time at which an application without a program and without a process is forgotten; `nil` if it is not.
    var forgetTime: Duration? {
        guard !hasProgram, process == nil, leftovers.isEmpty, !lifecycle.isLaunchWaiting, let idleSince else {
            return nil
        }
        return idleSince + context.configuration.forgetInterval
    }

    /// The number of open tasks, if it differs from the one that the state machine knows.
    private var changedTaskCount: Int? {
        guard let process, process.identity == lifecycle.process, process.isWelcomed, process.suspensionTime == nil
        else {
            return nil
        }
        let count = process.openTasks
        return count == lifecycle.openTasks ? nil : count
    }

    /// Performs the effects of one event; a process continues when everything that it is to receive is there, so that
    /// it wakes once.
    private func perform(_ effects: [LifecycleEffect]) {
        let isThawed = effects.contains(.thawProcess) && !effects.contains(.freezeProcess)
        for effect in effects where !isThawed || effect != .thawProcess { perform(effect) }
        if isThawed { perform(.thawProcess) }
        guard let priority = nextMemoryPriority else { return }
        nextMemoryPriority = nil
        process?.setMemoryPriority(priority)
    }

    // MARK: Deadlines

    /// The time at which ``handleDeadlines()`` must be called; `nil` if only an event can change anything.
    var nextDeadline: Duration? {
        let connections = [process?.connection?.retryTime] + leftovers.map { $0.connection?.retryTime }
        let own = [
            lifecycle.nextDeadline, adoptionDeadline, freezeCheck?.time, removalCheck?.time, countCheck,
            launchAnswerTime, namesTime, forgetTime, terminalCheck, urlAnswerTime,
            memoryEndTime, conditionCheck, soundCheck, continuedCheck, crashCheck, socketCheck,
        ]
        return (own + connections).compactMap(\.self).min()
    }

    /// The time of the next look at the count of a running application in the background, which may have lost a
    /// message.
    private var countCheck: Duration? {
        guard lifecycle.reachedState == .background, process != nil, adoptedRecord == nil else { return nil }
        return lastCountCheck + .seconds(1)
    }
    private var lastCountCheck: Duration = .zero

    func handleDeadlines() {
        let now = Clock.now
        process?.connection?.retry()
        if let check = freezeCheck, check.time <= now { continueFreeze() }
        if let check = removalCheck, check.time <= now { removeLeftovers() }
        if let deadline = adoptionDeadline, deadline <= now { giveUpAdoption() }
        if let time = launchAnswerTime, time <= now { answerLaunches(failure: slowStart) }
        if let time = namesTime, time <= now { requestTaskNames() }
        answerOverdueSenders(at: now)
        if let check = soundCheck, check <= now { checkSound(at: now) }
        if let check = continuedCheck, check <= now { followContinued(at: now) }
        if let check = crashCheck, check <= now {
            crashCheck = nil
            forgiveWakeCrashes()
            updateWakes()
        }
        if let check = socketCheck, check <= now { watchSockets(at: now) }
        if let check = terminalCheck, check <= now { continueForegroundJob() }
        if let time = memoryEndTime, time <= now { enforceMemoryEnd() }
        if let time = conditionCheck, time <= now {
            conditionCheck = nil
            checkConditions()
            updateWakes()
        }
        if let check = countCheck, check <= now {
            lastCountCheck = now
            checkProcessorUse(at: now)
            if changedTaskCount != nil {
                handle(.openTaskCountChanged(process?.openTasks ?? 0, process: lifecycle.process))
            }
        }
        if let deadline = lifecycle.nextDeadline, deadline <= now { handle(.deadlineReached) }
    }

    // MARK: Records

    var record: ApplicationRecord {
        var record = ApplicationRecord()
        record.program = program
        record.wasForceQuit = lifecycle.wasForceQuit
        record.launchCrashCount = UInt32(clamping: lifecycle.launchCrashCount)
        record.wakeCrashCounts = lifecycle.wakeCrashCounts.mapValues { UInt32(clamping: $0) }
        record.processNumber = processNumber
        record.process = processRecord
        record.waitingWakes = lifecycle.waitingWakes.map(ApplicationRecord.WakeRecord.init)
        record.waitingURLs = lifecycle.waitingLaunchURLs.map(self.record(of:))
        record.waitingLaunch = lifecycle.isWaitingLaunchVisible.map { $0 ? .foreground : .background }
        for request in waitingRequests { record.add(request, urlRecord: self.record(of:)) }
        return record
    }

    private var processRecord: ApplicationRecord.ProcessRecord? {
        guard let process else { return nil }
        // Until the process has connected, the earlier record is the best that is known.
        if let adoptedRecord { return adoptedRecord }
        var record = ApplicationRecord.ProcessRecord()
        (record.identifier, record.startTime) = (process.handle.identifier, process.handle.startTime)
        record.freezer = process.freezer.kind
        record.state = lifecycle.adoptableState
        record.isBackgroundLaunch = process.isBackgroundLaunch
        record.assertions = lifecycle.heldAssertions
        (record.declarations, record.suspensionTime) = (process.declarations, process.suspensionTime)
        record.killReport = process.killReport
        record.groupPath = (process.freezer as? GroupFreezer)?.path
        record.memoryPriorities = process.memoryPriorities.chosen
        record.intention = intention
        record.progressNumbers = shownProgress
        return record
    }

    /// The requests that a successor carries out, as this supervisor does.
    var intention: ApplicationRecord.Intention {
        var intention = ApplicationRecord.Intention()
        (intention.isVisible, intention.isFocused) = (lifecycle.isRequestedVisible, lifecycle.isRequestedFocused)
        intention.isTerminating = lifecycle.state == .terminating
        intention.graceEnd = lifecycle.terminationGraceEnd
        // One that the application has received is under way, whatever becomes of this process.
        let pending = process?.pendingCallback?.callback
        let isReceived = process?.isWelcomed == true
        intention.urls = lifecycle.waitingURLs.filter { !isReceived || pending != .openURL($0) }
            .map(record(of:))
        intention.wakes = lifecycle.acceptedWakes.filter { wake in
            !wake.isDelivered || !isReceived && pending == .wake(wake.reason)
        }.map(ApplicationRecord.WakeRecord.init)
        intention.presentation = process?.presentation
        return intention
    }

    /// Writes the record if it has changed.
    func saveRecord() { save(record) }

    @discardableResult
    func save(_ record: ApplicationRecord) -> Bool {
        guard record != writtenRecord else { return true }
        do throws(SystemError) {
            try write(WireWriter.encode(record))
            writtenRecord = record
            return true
        } catch {
            Log.write(.error, category: .background, message: "cannot save the record of \(identifier): \(error)")
            return false
        }
    }

    /// Replaces the record; makes the directory of the application first if there is none.
    private func write(_ bytes: [UInt8]) throws(SystemError) {
        let path = context.directory.recordPath(of: identifier)
        do throws(SystemError) { return try context.directory.replace(path, with: bytes) } catch {
            guard error.errorNumber == ENOENT else { throw error }
        }
        try context.directory.makeDirectory(of: identifier)
        try context.directory.replace(path, with: bytes)
    }
}
