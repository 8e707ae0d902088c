import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// An application: its state machine, its components and its processes.
///
/// Performs the effects of the state machine that concern a process from outside, and sends the others to it as
/// messages.
final class SupervisedApplication {
    let identifier: String
    let context: SupervisorContext
    let processes: ApplicationProcesses
    private var transitions: Transitions { didSet { alarm.outdate() } }
    var components: ApplicationComponents { didSet { alarm.outdate() } }
    var program: ApplicationProgram
    var files: ApplicationFiles
    /// The reports that the conditions of processing that runs may have changed.
    var conditionReports: ConditionReports?

    init(identifier: String, context: SupervisorContext) {
        self.identifier = identifier
        self.context = context
        processes = ApplicationProcesses(of: identifier, in: context)
        transitions = Transitions(Lifecycle(rules: context.configuration.rules))
        components = ApplicationComponents(context)
        program = ApplicationProgram(of: identifier)
        files = context.files(of: identifier)
        processes.report = { [unowned self] in learn($0) }
        processes.receive = { [unowned self] message, packet, process throws(WireError) in
            try receive(message, packet: packet, from: process)
        }
        refreshManifest()
        tell(.settled)
    }

    var lifecycle: Lifecycle {
        get { transitions.lifecycle }
        set { transitions.lifecycle = newValue }
    }

    /// The event whose effects are being performed.
    var currentEvent: LifecycleEvent? { transitions.current }

    /// The current process; `nil` if none runs.
    var process: RunningProcess? { processes.current }

    /// Passes an event to the state machine, performs the effects, and records the new state.
    func handle(_ event: LifecycleEvent) {
        if event.isStart { refreshManifest() }
        if case .wake = event { perform(components.wakes.forgiveCrashes(in: view)) }
        context.changeCount &+= 1
        guard transitions.add(event) else { return }
        while let step = transitions.next(at: Clock.now, with: process) { perform(step) }
        tell(.settled)
        saveWakes()
        saveRecord()
    }

    /// Performs the effects of one event; a process continues when everything that it is to receive is there, so that
    /// it wakes once.
    private func perform(_ step: Transitions.Step) {
        let effects = step.effects
        let refusals = effects.compactMap(\.refusal)
        if case .wake(let reason, _)? = step.event, refusals.isEmpty {
            log("\(reason.kind) wake \(reason.id)\(reason.session.isEmpty ? "" : " for \(reason.session)") begins")
        }
        let isThawed = effects.contains(.thawProcess) && !effects.contains(.freezeProcess)
        for effect in effects where !isThawed || effect != .thawProcess { perform(effect) }
        if isThawed { perform(.thawProcess) }
        // After what the user waits for.
        if let priority = effects.memoryPriority { process?.setMemoryPriority(priority) }
        for refusal in refusals { perform(components.reject(step.event, because: refusal, in: view)) }
    }

    // MARK: Components

    /// Tells all components of a change.
    func tell(_ change: ApplicationChange) {
        for component in ApplicationComponents.all { tell(component, of: change) }
    }

    /// Tells the components whose deadline has passed.
    func tellOverdue(at now: Duration) {
        for component in ApplicationComponents.all where component.deadline(components).map({ $0 <= now }) ?? false {
            tell(component, of: .deadline)
        }
    }

    private func tell(_ component: ApplicationComponents.Element, of change: ApplicationChange) {
        let view = view
        perform(component.handle(&components, change, view))
    }

    var view: ApplicationView { ApplicationView(of: self) }

    // MARK: Deadlines

    private lazy var alarm = context.poller.alarm(
        at: { [unowned self] in [lifecycle.nextDeadline, components.deadline].compactMap(\.self).min() },
        body: { [unowned self] in handleDeadlines() }
    )

    private func handleDeadlines() {
        let now = Clock.now
        tellOverdue(at: now)
        if let deadline = lifecycle.nextDeadline, deadline <= now { handle(.deadlineReached) }
        alarm.outdate()
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
    func saveRecord() { if !files.isRecordHeld { _ = files.save(ApplicationRecord(of: self)) } }
}
