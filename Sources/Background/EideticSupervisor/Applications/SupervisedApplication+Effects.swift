import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

extension SupervisedApplication {
    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .spawnProcess(let identity): spawn(identity)
        case .deliver(let callback, let deadline):
            components.taskNames.expectCallback(until: deadline, at: Clock.now)
            process?.deliver(callback, deadline: deadline)
        case .setTaskPhase(let phase, let deadline):
            do throws(SystemError) { try process?.page.setPhase(phase, deadline: deadline) } catch {
                log("cannot write the shared page: \(error)")
            }
        case .expireTasks(let deadline):
            send(.expire(deadline: deadline))
            perform(components.taskNames.request(in: view))
        case .freezeProcess: freeze()
        case .thawProcess: thaw()
        case .commitSuspension: commitSuspension()
        case .deliverNotices: deliverNotices()
        case .deleteArchive:
            do throws(SystemError) { try files.deleteArchive() } catch {
                log("cannot delete the saved state: \(error)")
            }
        case .deliverMemoryWarning(let level): send(.memoryWarning(level: UInt8(clamping: level)))
        case .warnAboutLocks: log("thawed, \(lastObstacle ?? "a lock is held"); killed if it happens again within 5 s")
        case .throttleProcess: throttle()
        case .exitProcess: components.plain.isRunning ? requestEnd() : send(.exit)
        case .killProcess(let reason): kill(for: reason)
        case .reportExit(let report):
            let ended = components.leftovers.processes.last { $0.identity == report.process } ?? process
            if let ended { saveExitReport(of: ended) }
            reportEnd(ended?.text(of: report) ?? ProcessEnd.unknown.explanation)
        case .refuse(let refusal): refuse(refusal, because: program.explanation(of: refusal, for: currentEvent))
        case .penalizeWake(let reason): log("the \(reason.kind) wake \(reason.id) was not completed in time")
        case .reportWake(let reason, let result): report(reason, result: result)
        case .reportURL(let url, let outcome):
            log("\(url)\(url.source.map { " from \($0)" } ?? ""): \(outcome)")
            answerSender(of: url, outcome: outcome)
        case .cancelTransfers: cancelTransfers()
        // The application saves its archive; the rest concerns an application without a supervisor.
        case .saveArchive, .extendStopTimeout, .releaseSleepInhibitor, .acquireSleepInhibitor: break
        }
    }

    /// Sends a message now, or after the application's `hello`.
    func send(_ message: SupervisorMessage) { if !components.plain.isRunning { process?.send(message) } }

    /// Ends the suspension, and tells the application of it.
    func deliverNotices() {
        if let message = process?.endSuspension(at: Clock.now) { send(message) }
    }

    /// Tells the sender of a URL what has become of it.
    func answerSender(of url: IncomingURL, outcome: IncomingURL.Outcome) {
        let obstacle = process == nil ? lastObstacle : nil
        perform(components.urls.complete(url, outcome: outcome, startObstacle: obstacle))
    }

    // MARK: Suspension

    /// Begins a freeze, or looks at it again, and passes the outcome.
    func freeze(again: Bool = false) {
        guard let process else { return }
        let page = process.page.file
        let effects =
            again
            ? components.suspension.resume(FreezeAttempt.resume(process.freezer, page: page), in: view)
            : components.suspension.begin(FreezeAttempt.begin(process.freezer, page: page), in: view)
        perform(effects)
    }

    private func thaw() {
        components.suspension.end()
        process?.callers.forget()
        process?.freezer.thaw()
        // The application first, where this process has the only free processor: what is left to do is records.
        sched_yield()
    }

    func requestIdleReport() {
        guard let process else { return }
        process.requestIdleReport()
        if process.page.openTasks == 0 { handle(.openTaskCountChanged(0, process: process.identity)) }
    }

    private func commitSuspension() {
        guard let process else { return }
        process.beginSuspension(at: Clock.now)
        watchSuspended(process)
        for stray in (process.freezer as? GroupFreezer)?.takeRegained() ?? [] {
            log("process \(stray) had left its control group, and was taken back")
        }
    }

    /// Watches the terminal of a suspended process, and the connections by which others reach it.
    func watchSuspended(_ process: RunningProcess) {
        components.suspension.watchTerminal(in: view)
        process.callers = Callers(of: process.freezer.processes)
        watchCallers(of: process)
    }

    private func watchCallers(of process: RunningProcess) {
        process.callers.watch(with: context.poller) { [unowned self] source in
            perform(components.thaws.request(from: source, in: view))
        }
    }

    /// Lets the suspended application run for what others have sent.
    func thawBriefly() {
        process?.callers.endWatch()
        process?.freezer.thaw()
    }

    /// Stops the application again; one that has opened a background task meanwhile continues.
    func endBriefThaw() {
        guard let process, lifecycle.state == .suspended else { return components.thaws.complete() }
        let outcome = FreezeAttempt.begin(process.freezer, page: process.page.file)
        switch outcome {
        case .verified:
            components.thaws.complete()
            watchCallers(of: process)
        case .openTasks(let count): continueAfterBriefThaw(openTasks: count)
        case .lock, .pending:
            if case .lock = outcome { process.freezer.thaw() }
            if !components.thaws.retry(at: Clock.now) { continueAfterBriefThaw() }
        }
    }

    /// Continues the suspended application in the background, where it is suspended again as any other.
    func continueAfterBriefThaw(openTasks: Int = 0) {
        components.thaws.complete()
        guard let process else { return }
        handle(.resumeInBackground)
        if openTasks > 0 { handle(.openTaskCountChanged(openTasks, process: process.identity)) }
    }

    private func throttle() {
        guard let process else { return }
        let obstacles = process.freezeObstacles
        let means = process.slowDown()
        let obstacle = "it could not be frozen in \(Int(lifecycle.rules.freezeLimit.inMilliseconds)) ms\(obstacles)"
        lastObstacle = obstacle
        log("unfreezable: \(obstacle); \(means), next attempt later")
    }

    // MARK: Ends

    func kill(for reason: KillReason) {
        guard let process else { return }
        let limit = context.configuration.quitGracePeriod
        if reason == .terminatedWhileSuspended, components.plain.beginEnd(at: Clock.now, limit: limit) {
            return requestEnd()
        }
        let isPlain = components.plain.isRunning && reason.isLimit
        let report =
            isPlain
            ? "killed, as it has not ended after SIGTERM"
            : KillReport(reason: reason, openTasks: process.taskReport).text
        process.reasons.kill = report
        if !isPlain {
            if reason.isToldAtNextLaunch { process.reasons.report = report }
            components.adoption.record?.killReport = report
            process.callers.forget()
        }
        log(report)
        process.freezer.kill()
    }

    /// Asks a process that knows no callbacks to end.
    private func requestEnd() {
        guard let process else { return }
        log("SIGTERM is sent to process \(process.handle.identifier)")
        process.handle.signal(SIGTERM)
        process.cancelSuspension()
    }

    /// Saves the reason for which a process was ended, for the next launch of the application.
    func saveExitReport(of ended: RunningProcess) {
        guard let report = ended.reasons.report else { return }
        do throws(SystemError) { try files.saveExitReport(report) } catch {
            log("cannot save the report of its end: \(error)")
        }
    }

    func reportEnd(_ text: String) {
        lastExit = text
        log("ended: \(text)")
    }
}

extension LifecycleEffect.Refusal {
    /// The reason in words.
    package var explanation: String {
        switch self {
        case .forceQuit: "the user ended the application, and only the user starts it again"
        case .undeclaredMode: "the application does not declare this kind of background work"
        case .allowanceExhausted: "the time for background work is used up"
        case .repeatedLaunchCrashes: "the application crashed during its last launches"
        case .repeatedWakeCrashes:
            "the application ended in the middle of its last wakes of this kind; it is woken again when the user has used it, "
                + "after a day, or with another version of its program"
        case .terminating: "the application is terminating"
        case .alreadyRunning: "another process of the application is running"
        case .processEnded: "the process ended before it was asked"
        case .tooManyRequests: "too many requests wait"
        case .notConnected: "its process has not connected in time, and runs without supervision"
        }
    }
}

extension [LifecycleEffect] {
    /// The memory priority that the process has after the effects; `nil` if they do not change it.
    var memoryPriority: Int? {
        compactMap { effect in
            switch effect {
            case .setTaskPhase(.foreground, _): MemoryPriorities.foreground
            case .setTaskPhase(.background, _): MemoryPriorities.background
            case .commitSuspension: MemoryPriorities.suspended
            default: nil
            }
        }.last
    }
}
