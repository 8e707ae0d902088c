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
    var lifecycle: Lifecycle { didSet { noteChange() } }
    /// The program that was installed with the identifier; `nil` for that of the desktop entry.
    var program: ProgramDescription?
    /// The desktop entry, as it was when the process started.
    var manifest = ManifestDirectories.Lookup.none
    /// The current process; `nil` if none runs.
    var process: RunningProcess? {
        didSet {
            context.changeCount &+= 1
        }
    }
    var components: ApplicationComponents { didSet { noteChange() } }
    /// The number of processes that were started.
    var processNumber: UInt64 = 0
    /// The record of a process of an earlier supervisor that cannot be taken over, until all applications are restored.
    var lostProcess: ApplicationRecord.ProcessRecord?
    var lastSequence: UInt64
    var lastExit: String?
    var lastRefusal: RefusedUse?
    /// The explanation of the last obstacle, such as a lock that was held at suspension.
    var lastObstacle: String?
    var wakeFile = RecordFile<WakeRecord>()
    /// The reports that the conditions of processing that runs may have changed.
    var conditionReports: ConditionReports?
    private var file = RecordFile<ApplicationRecord>()
    /// The events that effects have caused, handled after the current one.
    private var pendingEvents: [LifecycleEvent] = []
    private var isHandlingEvent = false
    /// The event whose effects are being performed.
    private(set) var currentEvent: LifecycleEvent?

    init(identifier: String, context: SupervisorContext) {
        self.identifier = identifier
        self.context = context
        lastSequence = context.firstNumber
        components = ApplicationComponents(context)
        lifecycle = Lifecycle(rules: context.configuration.rules)
        refreshManifest()
        tell(.settled)
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
        tell(.settled)
        saveWakes()
        saveRecord()
    }

    private func apply(_ event: LifecycleEvent) {
        let now = Clock.now
        if case .wake = event { forgiveWakeCrashes() }
        if event != .deadlineReached, let deadline = lifecycle.nextDeadline, deadline <= now {
            perform(transition(on: .deadlineReached, at: now))
        }
        if let count = view.changedTaskCount {
            perform(transition(on: .openTaskCountChanged(count, process: lifecycle.process), at: now))
        }
        let effects = transition(on: event, at: now)
        if case .wake(let reason, _) = event, !effects.contains(where: \.isRefusal) {
            log("\(reason.kind) wake \(reason.id)\(reason.session.isEmpty ? "" : " for \(reason.session)") begins")
        }
        currentEvent = event
        perform(effects)
        currentEvent = nil
        for case .refuse(let refusal) in effects { reportRefusal(of: event, because: refusal) }
    }

    /// Performs the effects of one event; a process continues when everything that it is to receive is there, so that
    /// it wakes once.
    private func perform(_ effects: [LifecycleEffect]) {
        let isThawed = effects.contains(.thawProcess) && !effects.contains(.freezeProcess)
        for effect in effects where !isThawed || effect != .thawProcess { perform(effect) }
        if isThawed { perform(.thawProcess) }
        // After what the user waits for.
        if let priority = effects.memoryPriority { process?.setMemoryPriority(priority) }
    }

    // MARK: Deadlines

    private lazy var alarm = context.poller.alarm { [unowned self] in self.handleDeadlines() }

    /// Makes the supervisor set the alarm before it waits.
    private func noteChange() { context.outdatedAlarms[ObjectIdentifier(self)] = self }

    /// Sets the alarm to the first deadline.
    func updateAlarm() {
        alarm.time = [lifecycle.nextDeadline, components.deadline].compactMap(\.self).min()
    }

    private func handleDeadlines() {
        let now = Clock.now
        tellOverdue(at: now)
        if let deadline = lifecycle.nextDeadline, deadline <= now { handle(.deadlineReached) }
        updateAlarm()
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
        record.waitingURLs = lifecycle.waitingLaunchURLs.map(components.urls.record(of:))
        record.waitingLaunch = lifecycle.isWaitingLaunchVisible.map { $0 ? .foreground : .background }
        for request in components.adoption.requests { record.add(request, urlRecord: components.urls.record(of:)) }
        return record
    }

    private var processRecord: ApplicationRecord.ProcessRecord? {
        guard let process else { return nil }
        // Until the process has connected, the earlier record is the best that is known.
        if let record = components.adoption.record { return record }
        var record = ApplicationRecord.ProcessRecord()
        record.identifier = process.handle.identifier
        record.startTime = process.handle.startTime
        record.freezer = process.freezer.kind
        record.state = lifecycle.adoptableState
        record.isBackgroundLaunch = process.isBackgroundLaunch
        record.isPlain = components.plain.isRunning
        record.assertions = lifecycle.heldAssertions
        record.declarations = process.declarations
        record.suspensionTime = process.suspensionTime
        record.killReport = process.killReport
        record.groupPath = (process.freezer as? GroupFreezer)?.path
        record.memoryPriorities = process.memoryPriorities.chosen
        record.intention = intention
        record.progressNumbers = components.work.shownNumbers
        return record
    }

    /// The requests that a successor carries out, as this supervisor does.
    var intention: ApplicationRecord.Intention {
        var intention = ApplicationRecord.Intention()
        intention.isVisible = lifecycle.isRequestedVisible
        intention.isFocused = lifecycle.isRequestedFocused
        intention.isTerminating = lifecycle.state == .terminating
        intention.graceEnd = lifecycle.terminationGraceEnd
        // One that the application has received is under way, whatever becomes of this process.
        let pending = process?.pendingCallback?.callback
        let isReceived = process?.isWelcomed == true
        intention.urls = lifecycle.waitingURLs.filter { !isReceived || pending != .openURL($0) }
            .map(components.urls.record(of:))
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
        let (directory, identifier) = (context.directory, identifier)
        do throws(SystemError) {
            try file.save(record, at: directory.recordPath(of: identifier), in: directory) { () throws(SystemError) in
                try directory.makeDirectory(of: identifier)
            }
            return true
        } catch {
            Log.write(.error, category: .background, message: "cannot save the record of \(identifier): \(error)")
            return false
        }
    }
}

extension LifecycleEffect {
    fileprivate var isRefusal: Bool { if case .refuse = self { true } else { false } }
}
