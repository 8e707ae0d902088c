import EideticCore
import EideticLifecycle
import Glibc

/// The host of the state machine in this process, where there is no supervisor: waits for events, and performs the
/// effects.
///
/// Used by the lifecycle thread only.
final class StandaloneHost {
    let performer: EffectPerformer
    let signals: SignalHandlers
    var application: Application { performer.application }
    var configuration: Application.Configuration { performer.configuration }
    var inbox: EventInbox { performer.inbox }
    var loginManager: LoginManager?
    /// The notifications that this process shows itself.
    let notifications: StandaloneNotifications
    var memoryMonitor: MemoryMonitor?
    var lifecycle: Lifecycle
    /// A Boolean value indicating whether Ctrl-Z stopped the process and `fg` has not continued it since.
    private var isStoppedByJobControl = false
    /// A Boolean value indicating whether `bg` continued the process.
    ///
    /// A later `fg` sends no signal, so the terminal is checked once per second.
    private(set) var isBackgroundJob = false
    /// A Boolean value indicating whether the shell started the job in the background, and nothing has changed since.
    private var isHeldSinceLaunch = false
    /// The events that effects have caused, handled after the current one.
    var pendingEvents: [(event: LifecycleEvent, moment: Duration)] = []
    /// The clock of the state machine, which stands while the process is stopped.
    var time: RunningTime

    init(performer: EffectPerformer, signals: SignalHandlers) {
        self.performer = performer
        self.signals = signals
        notifications = StandaloneNotifications(performer: performer)
        lifecycle = Lifecycle(rules: performer.configuration.makeLifecycleRules())
        time = RunningTime(at: performer.application.clock.uptime)
    }

    /// Runs until the process ends, from the launch on, or from the state in which a supervisor left the application.
    func run(adopting process: AdoptedProcess? = nil) -> Never {
        if configuration.usesLoginManager { loginManager = LoginManager { [inbox] in inbox.post([$0]) } }
        if configuration.monitorsMemory {
            memoryMonitor = MemoryMonitor(usesThresholds: configuration.usesMemoryThresholds) { [inbox] in
                inbox.requestMemoryReading()
            }
        }
        loginManager?.inhibitSleep()
        // First of all events: a signal without a launched application would terminate nothing.
        if let process { handle(.processAdopted(process)) } else { launch() }
        // Those that a supervisor has received and not carried out.
        for _ in 0..<signals.terminationRequestCount { requestTermination() }
        while true {
            wait()
            drainInbox()
            checkMemory()
            checkTerminal()
            checkObservers()
            notifications.update()
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
        if let archive = batch.archive { performer.unsavedArchive = archive }
        if loginManager?.process() == false {
            // It held the inhibitor, which can no longer be released in time.
            Log.write(
                .warning,
                category: .background,
                message: "lost the connection to logind: sleep is not delayed any more"
            )
            loginManager = nil
        }
        performer.readNotices()
        for number in batch.signals { handleSignal(number) }
        for event in batch.events {
            releaseJob(before: event)
            handle(event)
        }
        // Tasks may have ended without another event.
        handle(.openTaskCountChanged(application.tasks.count, process: .first))
    }

    /// Launches the application, in the background if its shell has started it there.
    private func launch() {
        guard configuration.followsTerminal, signals.isJobInBackground else { return handle(.launch(.user)) }
        isStoppedByJobControl = true
        isBackgroundJob = true
        isHeldSinceLaunch = true
        handle(.launchBackgroundJob)
    }

    /// Ends the hold of a job that was started in the background when it shows itself elsewhere, as in a window.
    private func releaseJob(before event: LifecycleEvent) {
        guard isHeldSinceLaunch, event == .show else { return }
        isStoppedByJobControl = false
        isBackgroundJob = false
        isHeldSinceLaunch = false
        handle(.resumeInForeground)
    }

    private func handleSignal(_ number: Int32) {
        switch number {
        case SIGTERM, SIGINT, SIGHUP:
            guard let count = signals.recordTerminationRequest(by: number) else { return }
            if count > 2 { signals.terminateByDefault(number) }
            requestTermination()
        case SIGTSTP:
            isStoppedByJobControl = true
            isBackgroundJob = false
            isHeldSinceLaunch = false
            handle(.suspend(within: configuration.suspensionGracePeriod))
        case SIGCONT where isStoppedByJobControl: handle(resumeByJobControl())
        default: break
        }
    }

    /// Returns the event by which a stopped job continues, in the foreground or in the background of its terminal.
    func resumeByJobControl() -> LifecycleEvent {
        isHeldSinceLaunch = false
        isBackgroundJob = signals.isJobInBackground
        isStoppedByJobControl = isBackgroundJob
        return isBackgroundJob ? .resumeInBackground : .resumeInForeground
    }

    private func checkTerminal() {
        guard isBackgroundJob, !signals.isJobInBackground else { return }
        isHeldSinceLaunch = false
        isStoppedByJobControl = false
        isBackgroundJob = false
        handle(.resumeInForeground)
    }

    private func requestTermination() { handle(.terminate(grace: terminationGracePeriod)) }

    private var terminationGracePeriod: Duration {
        configuration.terminationGracePeriod
            ?? (performer.serviceManager.isPresent ? configuration.backgroundBudget ?? .seconds(600) : .seconds(25))
    }

    /// Passes an event to the state machine and performs the effects, after any deadline that has passed.
    func handle(_ event: LifecycleEvent, at moment: Duration? = nil) {
        if let deadline = lifecycle.nextDeadline, deadline <= eventTime(moment), event != .deadlineReached {
            process(.deadlineReached, at: eventTime(moment))
        }
        let open = application.tasks.count
        if open != lifecycle.stay.openTasks, moment == nil {
            process(.openTaskCountChanged(open, process: .first), at: eventTime(nil))
        }
        process(event, at: eventTime(moment))
    }

    private func eventTime(_ moment: Duration?) -> Duration { moment ?? now }

    private func process(_ event: LifecycleEvent, at moment: Duration) {
        let effects = transition(on: event, at: moment)
        if !effects.isEmpty {
            Log.write(.debug, category: .background, message: "\(event) → \(lifecycle.state): \(effects)")
        }
        performer.setState(ApplicationState(lifecycle.reachedState), at: now)
        switch event {
        case .callbackAcknowledged(.launch, _), .callbackAcknowledged(.launchInBackground, _): performer.finishLaunch()
        default: break
        }
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
        var event = event
        var moment = moment
        while true {
            var next = lifecycle
            let effects = next.handle(event, at: moment)
            let ends = effects.contains { if case .setTaskPhase(.terminating, _) = $0 { true } else { false } }
            if !ends || application.tasks.closeIfIdle(phase: .terminating) {
                lifecycle = next
                return effects
            }
            moment = max(moment, now)
            let open = LifecycleEvent.openTaskCountChanged(max(1, application.tasks.count), process: .first)
            if case .openTaskCountChanged = event {
                event = open
            } else {
                for effect in transition(on: open, at: moment) { perform(effect) }
            }
        }
    }

    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .deliver(let callback, _): performer.deliver(callback, at: now)
        case .setTaskPhase(let phase, let deadline):
            application.tasks.setPhase(phase, deadline: deadline.map { $0 + time.lost })
        case .expireTasks: performer.expireTasks()
        case .freezeProcess: stopProcess()
        case .commitSuspension: break
        case .thawProcess: Log.write(.info, category: .background, message: "resumed")
        case .deliverNotices: performer.deliverNotices(at: now)
        case .saveArchive: performer.saveArchive()
        case .deleteArchive: performer.archive?.delete()
        case .deliverMemoryWarning(let level):
            performer.deliverMemoryPressure(MemoryPressure(number: level))
        case .extendStopTimeout(let duration): performer.serviceManager.extendStopTimeout(by: duration)
        case .releaseSleepInhibitor: loginManager?.allowSleep()
        case .acquireSleepInhibitor: loginManager?.inhibitSleep()
        case .exitProcess:
            memoryMonitor?.stop()
            performer.exitProcess()
        case .killProcess(let reason): killProcess(for: reason)
        // The others are effects for a supervisor: a process cannot start, throttle or report itself.
        case .spawnProcess, .refuse, .warnAboutLocks, .throttleProcess, .penalizeWake, .cancelTransfers, .reportExit,
            .reportWake, .reportURL:
            break
        }
    }

    /// Stops this process as Ctrl-Z does, once no task is open and none can start.
    func stopProcess() {
        let moment = now
        guard application.tasks.closeIfIdle() else {
            let open = application.tasks.count
            return pendingEvents.append((.processFrozen(.first, openTasks: open, blocksOthers: false), moment))
        }
        performer.setState(.suspended, at: moment)
        application.noticeCenter.suspend()
        // Directed to this thread, which therefore stops here; the others stop with it.
        raise(SIGSTOP)
        // The process was continued; the time in between is not charged.
        skipStoppedTime()
        pendingEvents.append((.processFrozen(.first, openTasks: 0, blocksOthers: false), moment))
        // What happened meanwhile is known before the application continues.
        performer.readNotices()
        // Not by SIGCONT, which may be read after a later signal, or have a handler of the application's own.
        pendingEvents.append((resumeByJobControl(), now))
    }

    /// Kills this process for a violation, after saving the report.
    func killProcess(for reason: KillReason) {
        let report = KillReport(reason: reason, openTasks: application.tasks.names).text
        performer.archive?.saveReport(report)
        performer.serviceManager.reportStatus(report)
        printReport("eidetic: \(report)\n")
        kill(getpid(), SIGKILL)
        // The signal may take a moment to arrive.
        while true { pause() }
    }

    /// Writes to the standard error if it is ready; a missing reader must neither delay nor change the end.
    private func printReport(_ line: String) {
        signal(SIGPIPE, SIG_IGN)
        var polled = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, 0) == 1 else { return }
        // A pipe that is ready accepts a page without blocking, and a report is shorter.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
