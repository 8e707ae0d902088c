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
    var clockWatch = ClockWatch()
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
        inbox.post([.launch(.user)])
        Thread.start(name: "eidetic-life") { self.run() }
    }

    private func run() {
        if configuration.followsLoginManager { login = LoginManager { [inbox] in inbox.post([$0]) } }
        if configuration.watchesMemory { memory = MemoryWatch() }
        login?.hold()
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
        login?.process()
        if clockWatch.hasChanged() { application.notices.post(Notice(.clockChanged)) }
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
        let effects = lifecycle.handle(event, at: moment)
        if !effects.isEmpty { Log.write(.debug, .background, "\(event) → \(lifecycle.stage): \(effects)") }
        application.setState(ApplicationState(lifecycle.place))
        if case .acknowledged(.launch) = event { launched() }
        for effect in effects { perform(effect) }
        if !followUps.isEmpty {
            let next = followUps.removeFirst()
            step(next.event, next.moment)
        }
    }
}
