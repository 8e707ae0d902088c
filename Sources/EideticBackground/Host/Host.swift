import EideticCore
import Glibc
import LifecycleCore

/// Applies the rules of life to this process, on a thread of its own: waits for news, and does what the rules say.
///
/// All of it is touched by that one thread only, but for what `start` prepares.
final class LifecycleHost: @unchecked Sendable {
    // Safe to send: handed over to the thread by `start`, and used there only.
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
    /// Stopped by Ctrl-Z, and not brought back by `fg` since.
    private var isStoppedByJobControl = false
    /// Continued by `bg`: `fg` then sends no signal, so the terminal is asked once a second.
    private(set) var isBackgroundJob = false
    /// Events that the effects of another one led to; handled right after it.
    var pendingEvents: [(event: LifecycleEvent, moment: Duration)] = []
    /// What the delegate wants to find at the next launch, until it is written.
    var unsavedArchive: [UInt8]?

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
        inbox.isMultitaskingSupported = configuration.isMultitaskingSupported
    }

    /// Signals are caught when this returns: nothing sent after it is fatal.
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
        if configuration.monitorsMemory { memoryMonitor = MemoryMonitor() }
        loginManager?.inhibitSleep()
        // Before all that came meanwhile: a signal that found nothing launched would have nothing to end.
        handle(.launch(.user))
        while true {
            wait()
            drainInbox()
            checkMemory()
            checkTerminal()
            if lifecycle.nextDeadline.map({ $0 <= application.clock.uptime }) ?? false { handle(.deadlineReached) }
        }
    }

    private func drainInbox() {
        let news = inbox.drain()
        if let archive = news.archive { unsavedArchive = archive }
        if loginManager?.process() == false {
            // With the inhibitor, which nobody could give back in time any more.
            Log.write(
                .warning,
                category: .background,
                message: "the login manager is gone: sleep is not delayed any more"
            )
            loginManager = nil
        }
        for notice in application.noticeSources.read() { application.noticeCenter.post(notice) }
        for number in news.signals { handleSignal(number) }
        for event in news.events { handle(event) }
        // Tasks may have ended without another event.
        handle(.openTaskCountChanged(application.tasks.count))
    }

    private func handleSignal(_ number: Int32) {
        switch number {
        case SIGTERM, SIGINT:
            if signals.recordTerminationRequest() > 2 { signals.terminateByDefault(number) }
            handle(.terminate(grace: terminationGracePeriod))
        case SIGTSTP:
            (isStoppedByJobControl, isBackgroundJob) = (true, false)
            handle(.suspend(within: configuration.suspensionGracePeriod))
        case SIGCONT where isStoppedByJobControl:
            isBackgroundJob = signals.isJobInBackground
            isStoppedByJobControl = isBackgroundJob
            handle(isBackgroundJob ? .resumeInBackground : .enterForeground)
        default: break
        }
    }

    private func checkTerminal() {
        guard isBackgroundJob, !signals.isJobInBackground else { return }
        (isStoppedByJobControl, isBackgroundJob) = (false, false)
        handle(.enterForeground)
    }

    /// The launch is over: clients may come, and what was offered did no harm.
    private func launchDidFinish() {
        serviceManager.reportReady()
        archive?.finishLaunch()
    }

    private var terminationGracePeriod: Duration {
        configuration.terminationGracePeriod
            ?? (serviceManager.isPresent ? configuration.backgroundBudget : .seconds(25))
    }

    /// Tells the rules what happened, and does what they say.
    func handle(_ event: LifecycleEvent, at moment: Duration? = nil) {
        if let deadline = lifecycle.nextDeadline, deadline <= resolve(moment), event != .deadlineReached {
            process(.deadlineReached, at: resolve(moment))
        }
        let open = application.tasks.count
        if open != lifecycle.openTasks, moment == nil { process(.openTaskCountChanged(open), at: resolve(nil)) }
        process(event, at: resolve(moment))
    }

    private func resolve(_ moment: Duration?) -> Duration { moment ?? application.clock.uptime }

    private func process(_ event: LifecycleEvent, at moment: Duration) {
        let effects = transition(on: event, at: moment)
        if !effects.isEmpty {
            Log.write(.debug, category: .background, message: "\(event) → \(lifecycle.state): \(effects)")
        }
        application.setState(ApplicationState(lifecycle.reachedState))
        if case .callbackAcknowledged(.launch) = event { launchDidFinish() }
        for effect in effects { perform(effect) }
        if !pendingEvents.isEmpty {
            let next = pendingEvents.removeFirst()
            process(next.event, at: next.moment)
        }
    }

    /// Applies an event; the last word on the end has the table of tasks.
    ///
    /// A task may begin between the moment at which none was open and the one at which no more may begin. Then the event
    /// is taken back, and the task told first: what was granted its time is never cut off.
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
            moment = max(moment, application.clock.uptime)
            let open = LifecycleEvent.openTaskCountChanged(max(1, application.tasks.count))
            if case .openTaskCountChanged = event {
                event = open
            } else {
                for effect in transition(on: open, at: moment) { perform(effect) }
            }
        }
    }
}
