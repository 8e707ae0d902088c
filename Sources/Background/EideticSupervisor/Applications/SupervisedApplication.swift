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
    var program: ApplicationProgram
    var files: ApplicationFiles
    /// The current process; `nil` if none runs.
    var process: RunningProcess? { didSet { context.changeCount &+= 1 } }
    var components: ApplicationComponents { didSet { noteChange() } }
    /// The number of processes that were started.
    var processNumber: UInt64 = 0
    var lastExit: String?
    /// The reason in words for which a request was refused last.
    var lastRefusal: String?
    /// The explanation of the last obstacle, such as a lock that was held at suspension.
    var lastObstacle: String?
    /// The reports that the conditions of processing that runs may have changed.
    var conditionReports: ConditionReports?
    /// The events that effects have caused, handled after the current one.
    private var pendingEvents: [LifecycleEvent] = []
    private var isHandlingEvent = false
    private var isRecordHeld = false
    /// The event whose effects are being performed.
    private(set) var currentEvent: LifecycleEvent?

    init(identifier: String, context: SupervisorContext) {
        self.identifier = identifier
        self.context = context
        program = ApplicationProgram(of: identifier)
        files = ApplicationFiles(
            of: identifier,
            in: context.directory,
            stateDirectory: context.configuration.stateDirectory
        )
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

    private func transition(on event: LifecycleEvent, at now: Duration) -> [LifecycleEffect] {
        CheckedTransition.make(&lifecycle, on: event, at: now, with: process)
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

    // MARK: Declarations

    /// Reads the desktop entry again, unless a process runs: that of its start holds for it.
    func refreshManifest() {
        guard process == nil else { return }
        let found = context.manifests.manifest(of: identifier)
        guard program.refresh(found) else { return }
        if case .invalid(let path, let error) = found { log("\(path) cannot be used: \(error)") }
        applyDeclarations()
    }

    /// Limits the application to what it declares.
    func applyDeclarations() {
        program.restrict(
            &lifecycle.rules,
            to: process?.conversation.declarations,
            isWatched: process?.watchdog != nil,
            within: context.configuration.rules
        )
    }

    // MARK: Records

    func log(_ text: String) { context.log.append(text, for: identifier) }

    /// Writes the record if it has changed.
    func saveRecord() { if !isRecordHeld { _ = files.save(ApplicationRecord(of: self)) } }

    /// Performs what the record shows as a whole, or not at all: a successor finds the earlier record until the end.
    func recordOnce(_ body: () -> Void) {
        isRecordHeld = true
        body()
        isRecordHeld = false
        saveRecord()
    }

    /// Records a refusal, for `eidetic app why` and the log.
    func refuse(because reason: String) {
        lastRefusal = reason
        log("refused: \(reason)")
    }
}

extension LifecycleEffect {
    fileprivate var isRefusal: Bool { if case .refuse = self { true } else { false } }
}
