import EideticCore
import Glibc
import LifecycleCore

/// The host of the state machine in this process: waits for events on a thread of its own, and performs the effects.
///
/// Only that thread accesses the host after `start()`.
final class LifecycleHost: @unchecked Sendable {
    // Safe to send: `start()` hands the host over to its thread.
    let application: Application
    let configuration: Application.Configuration
    let delegate: (any ApplicationDelegate)?
    let inbox: EventInbox
    let signals: SignalHandlers
    let serviceManager: ServiceManager
    let archive: StateArchive?
    var loginManager: LoginManager?
    var memoryMonitor: MemoryMonitor?
    var lifecycle: Lifecycle
    /// A Boolean value indicating whether Ctrl-Z stopped the process and `fg` has not continued it since.
    private var isStoppedByJobControl = false
    /// A Boolean value indicating whether `bg` continued the process.
    ///
    /// A later `fg` sends no signal, so the terminal is checked once per second.
    private(set) var isBackgroundJob = false
    /// The events that effects have caused, handled after the current one.
    var pendingEvents: [(event: LifecycleEvent, moment: Duration)] = []
    /// The archive that the delegate returned, until it is saved.
    var unsavedArchive: [UInt8]?
    /// The clock of the state machine, which stands while the process is stopped.
    var time: RunningTime
    /// The time at which nothing waits any more for observers of the last change of state.
    var observerDeadline: Duration?
    /// A callback that follows when the observers of held notices have finished, or after this time.
    var postponedCallback: LifecycleCallback?
    /// The end of the time of observers of held notices; `nil` if none is waited for.
    var noticeDeadline: Duration?

    init(
        application: Application,
        configuration: Application.Configuration,
        delegate: (any ApplicationDelegate)?,
        inbox: EventInbox
    ) throws(EideticError) {
        (self.application, self.configuration, self.delegate) = (application, configuration, delegate)
        self.inbox = inbox
        signals = SignalHandlers(inbox: inbox)
        serviceManager = ServiceManager(isEnabled: configuration.notifiesServiceManager)
        archive = configuration.identifier.map { StateArchive(identifier: $0, directory: configuration.stateDirectory) }
        lifecycle = Lifecycle(rules: configuration.makeLifecycleRules())
        time = RunningTime(at: application.clock.uptime)
        inbox.isMultitaskingSupported = configuration.isMultitaskingSupported
    }

    /// Starts the thread; signals are handled when this function returns.
    func start() {
        if configuration.handlesSignals { signals.install() }
        application.noticeSources.start(
            paths: .init(
                systemDirectory: configuration.systemSettingsDirectory,
                settingsFiles: configuration.settingsFiles
            )
        )
        Thread.start(name: "eidetic-life") { self.run() }
    }

    private func run() {
        if configuration.usesLoginManager { loginManager = LoginManager { [inbox] in inbox.post([$0]) } }
        if configuration.monitorsMemory {
            memoryMonitor = MemoryMonitor(usesThresholds: configuration.usesMemoryThresholds) { [inbox] in
                inbox.requestMemoryReading()
            }
        }
        loginManager?.inhibitSleep()
        // First of all events: a signal without a launched application would terminate nothing.
        handle(.launch(.user))
        while true {
            wait()
            drainInbox()
            checkMemory()
            checkTerminal()
            checkObservers()
            if lifecycle.nextDeadline.map({ $0 <= now }) ?? false { handle(.deadlineReached) }
        }
    }

    /// The running time, read now.
    var now: Duration {
        let lost = time.lost
        time.advance(to: application.clock.uptime)
        if time.lost > lost { application.tasks.postponeDeadline(by: time.lost - lost) }
        return time.now
    }

    private func drainInbox() {
        let batch = inbox.drain()
        if let archive = batch.archive { unsavedArchive = archive }
        if loginManager?.process() == false {
            // It held the inhibitor, which can no longer be released in time.
            Log.write(
                .warning,
                category: .background,
                message: "lost the connection to logind: sleep is not delayed any more"
            )
            loginManager = nil
        }
        readNotices()
        for number in batch.signals { handleSignal(number) }
        for event in batch.events { handle(event) }
        // Tasks may have ended without another event.
        handle(.openTaskCountChanged(application.tasks.count))
    }

    /// Posts what the sources of notices have to report.
    func readNotices() {
        for notice in application.noticeSources.read() { application.noticeCenter.post(notice) }
    }

    private func handleSignal(_ number: Int32) {
        switch number {
        case SIGTERM, SIGINT, SIGHUP:
            guard let count = signals.recordTerminationRequest(by: number) else { return }
            if count > 2 { signals.terminateByDefault(number) }
            handle(.terminate(grace: terminationGracePeriod))
        case SIGTSTP:
            (isStoppedByJobControl, isBackgroundJob) = (true, false)
            handle(.suspend(within: configuration.suspensionGracePeriod))
        case SIGCONT where isStoppedByJobControl: handle(resumeByJobControl())
        default: break
        }
    }

    /// Returns the event by which a stopped job continues, in the foreground or in the background of its terminal.
    func resumeByJobControl() -> LifecycleEvent {
        isBackgroundJob = signals.isJobInBackground
        isStoppedByJobControl = isBackgroundJob
        return isBackgroundJob ? .resumeInBackground : .resumeInForeground
    }

    private func checkTerminal() {
        guard isBackgroundJob, !signals.isJobInBackground else { return }
        (isStoppedByJobControl, isBackgroundJob) = (false, false)
        handle(.resumeInForeground)
    }

    /// Reports readiness, and confirms that the launch did not crash.
    private func launchDidFinish() {
        serviceManager.reportReady()
        archive?.finishLaunch()
    }

    private var terminationGracePeriod: Duration {
        configuration.terminationGracePeriod
            ?? (serviceManager.isPresent ? configuration.backgroundBudget ?? .seconds(600) : .seconds(25))
    }

    /// Passes an event to the state machine and performs the effects, after any deadline that has passed.
    func handle(_ event: LifecycleEvent, at moment: Duration? = nil) {
        if let deadline = lifecycle.nextDeadline, deadline <= eventTime(moment), event != .deadlineReached {
            process(.deadlineReached, at: eventTime(moment))
        }
        let open = application.tasks.count
        if open != lifecycle.openTasks, moment == nil { process(.openTaskCountChanged(open), at: eventTime(nil)) }
        process(event, at: eventTime(moment))
    }

    private func eventTime(_ moment: Duration?) -> Duration { moment ?? now }

    private func process(_ event: LifecycleEvent, at moment: Duration) {
        let effects = transition(on: event, at: moment)
        if !effects.isEmpty {
            Log.write(.debug, category: .background, message: "\(event) → \(lifecycle.state): \(effects)")
        }
        if application.setState(ApplicationState(lifecycle.reachedState)) { restartObserverLimit() }
        if case .callbackAcknowledged(.launch) = event { launchDidFinish() }
        for effect in effects { perform(effect) }
        if !pendingEvents.isEmpty {
            let next = pendingEvents.removeFirst()
            process(next.event, at: next.moment)
        }
    }

    /// Makes a transition, unless it would terminate the application while a task is open.
    ///
    /// A task may start between the event that found none open and the moment at which no more are admitted. The
    /// transition is then discarded, and the number of tasks is passed first, so that no task loses the time it was
    /// granted.
    private func transition(on event: LifecycleEvent, at moment: Duration) -> [LifecycleEffect] {
        var (event, moment) = (event, moment)
        while true {
            var next = lifecycle
            let effects = next.handle(event, at: moment)
            let ends = effects.contains { if case .setTaskPhase(.terminating, _) = $0 { true } else { false } }
            if !ends || application.tasks.closeIfIdle(phase: .terminating) {
                lifecycle = next
                return effects
            }
            moment = max(moment, now)
            let open = LifecycleEvent.openTaskCountChanged(max(1, application.tasks.count))
            if case .openTaskCountChanged = event {
                event = open
            } else {
                for effect in transition(on: open, at: moment) { perform(effect) }
            }
        }
    }
}
