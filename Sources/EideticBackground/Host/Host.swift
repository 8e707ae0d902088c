import EideticCore
import Glibc
import LifecycleCore

/// Applies the rules of life to this process, on a thread of its own: waits for news, and does what the rules say.
///
/// All of it is touched by that one thread only, but for what `start` prepares.
final class Host: @unchecked Sendable {
    // Safe to send: handed over to the thread by `start`, and used there only.
    let application: Application
    let configuration: Application.Configuration
    let delegate: (any ApplicationDelegate)?
    let inbox: Inbox
    let signals: Signals
    let service: ServiceManager
    let archive: StateArchive?
    var login: LoginManager?
    var memory: MemoryWatch?
    var lifecycle: Lifecycle
    /// Stopped by Ctrl-Z, and not brought back by `fg` since.
    private var isStoppedJob = false
    /// Continued by `bg`: `fg` then sends no signal, so the terminal is asked once a second.
    private(set) var isUnseenJob = false
    /// Events that the effects of another one led to; handled right after it.
    var followUps: [(event: LifecycleEvent, moment: Duration)] = []
    /// What the delegate wants to find at the next launch, until it is written.
    var newArchive: [UInt8]?

    init(
        _ application: Application,
        _ configuration: Application.Configuration,
        _ delegate: (any ApplicationDelegate)?,
        _ inbox: Inbox
    ) throws(EideticError) {
        (self.application, self.configuration, self.delegate) = (application, configuration, delegate)
        self.inbox = inbox
        signals = Signals(inbox)
        service = ServiceManager(isUsed: configuration.notifiesServiceManager)
        archive = configuration.identifier.map { StateArchive(identifier: $0, directory: configuration.stateDirectory) }
        lifecycle = Lifecycle(rules: configuration.lifecycleRules())
        inbox.isMultitaskingSupported = configuration.isMultitaskingSupported
    }

    /// Signals are caught when this returns: nothing sent after it is fatal.
    func start() {
        if configuration.handlesSignals { signals.catchAll() }
        application.sources.start(.init(system: configuration.systemDirectory, settings: configuration.settingsFiles))
        Thread.start(name: "eidetic-life") { self.run() }
    }

    private func run() {
        if configuration.followsLoginManager { login = LoginManager { [inbox] in inbox.post([$0]) } }
        if configuration.watchesMemory { memory = MemoryWatch() }
        login?.hold()
        // Before all that came meanwhile: a signal that found nothing launched would have nothing to end.
        handle(.launch(.user))
        while true {
            wait()
            takeNews()
            watchMemory()
            watchTerminal()
            if lifecycle.nextDeadline.map({ $0 <= application.clock.uptime }) ?? false { handle(.timer) }
        }
    }

    private func takeNews() {
        let news = inbox.take()
        if let archive = news.archive { newArchive = archive }
        if login?.process() == false {
            // With the inhibitor, which nobody could give back in time any more.
            Log.write(.warning, .background, "the login manager is gone: sleep is not delayed any more")
            login = nil
        }
        for notice in application.sources.read() { application.notices.post(notice) }
        for number in news.signals { handleSignal(number) }
        for event in news.events { handle(event) }
        // Tasks may have ended without another event.
        handle(.tasks(application.tasks.count))
    }

    private func handleSignal(_ number: Int32) {
        switch number {
        case SIGTERM, SIGINT:
            if signals.countStop() > 2 { signals.endByDefault(number) }
            handle(.terminate(grace: stopGrace))
        case SIGTSTP:
            (isStoppedJob, isUnseenJob) = (true, false)
            handle(.suspend(within: configuration.jobStopGrace))
        case SIGCONT where isStoppedJob:
            isUnseenJob = signals.isJobInBackground
            isStoppedJob = isUnseenJob
            handle(isUnseenJob ? .continueInBackground : .enterForeground)
        default: break
        }
    }

    private func watchTerminal() {
        guard isUnseenJob, !signals.isJobInBackground else { return }
        (isStoppedJob, isUnseenJob) = (false, false)
        handle(.enterForeground)
    }

    /// The launch is over: clients may come, and what was offered did no harm.
    private func launched() {
        service.ready()
        archive?.endLaunch()
    }

    private var stopGrace: Duration {
        configuration.stopGrace ?? (service.isPresent ? configuration.backgroundBudget : .seconds(25))
    }

    /// Tells the rules what happened, and does what they say.
    func handle(_ event: LifecycleEvent, at moment: Duration? = nil) {
        if let deadline = lifecycle.nextDeadline, deadline <= now(moment), event != .timer { step(.timer, now(moment)) }
        let open = application.tasks.count
        if open != lifecycle.openTasks, moment == nil { step(.tasks(open), now(nil)) }
        step(event, now(moment))
    }

    private func now(_ moment: Duration?) -> Duration { moment ?? application.clock.uptime }

    private func step(_ event: LifecycleEvent, _ moment: Duration) {
        let effects = settle(event, moment)
        if !effects.isEmpty { Log.write(.debug, .background, "\(event) → \(lifecycle.stage): \(effects)") }
        application.setState(ApplicationState(lifecycle.place))
        if case .acknowledged(.launch) = event { launched() }
        for effect in effects { perform(effect) }
        if !followUps.isEmpty {
            let next = followUps.removeFirst()
            step(next.event, next.moment)
        }
    }

    /// Applies an event; the last word on the end has the table of tasks.
    ///
    /// A task may begin between the moment at which none was open and the one at which no more may begin. Then the event
    /// is taken back, and the task told first: what was granted its time is never cut off.
    private func settle(_ event: LifecycleEvent, _ moment: Duration) -> [LifecycleEffect] {
        var (event, moment) = (event, moment)
        while true {
            var next = lifecycle
            let effects = next.handle(event, at: moment)
            let ends = effects.contains { if case .phase(.terminating, _) = $0 { true } else { false } }
            if !ends || application.tasks.shutIfIdle(.terminating) {
                lifecycle = next
                return effects
            }
            moment = max(moment, application.clock.uptime)
            let open = LifecycleEvent.tasks(max(1, application.tasks.count))
            if case .tasks = event { event = open } else { for effect in settle(open, moment) { perform(effect) } }
        }
    }
}
