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
            if phase == .background { process?.findSessionBus() }
        case .expireTasks(let deadline):
            send(.expire(deadline: deadline))
            perform(components.taskNames.request(in: view))
        case .freezeProcess: if let process { perform(components.suspension.begin(process.beginFreeze(), in: view)) }
        case .thawProcess:
            components.suspension.end()
            process?.thaw()
            // The application first, where this process has the only free processor: what is left to do is records.
            sched_yield()
        case .commitSuspension:
            process?.beginSuspension(at: Clock.now)
            watchSuspended()
        case .deliverNotices: deliverNotices()
        case .deleteArchive:
            do throws(SystemError) { try files.deleteArchive() } catch {
                log("cannot delete the saved state: \(error)")
            }
        case .deliverMemoryWarning(let level): send(.memoryWarning(level: UInt8(clamping: level)))
        case .warnAboutLocks: log("thawed, \(lastObstacle ?? "a lock is held"); killed if it happens again within 5 s")
        case .throttleProcess: lastObstacle = process?.throttle(after: lifecycle.rules.freezeLimit) ?? lastObstacle
        case .exitProcess: components.plain.isRunning ? process?.requestEnd() : send(.exit)
        case .killProcess(let reason): kill(for: reason)
        case .reportExit(let report):
            let ended = components.leftovers.processes.last { $0.identity == report.process } ?? process
            if let ended { saveExitReport(of: ended) }
            reportEnd(ended?.text(of: report) ?? ProcessEnd.unknown.explanation)
        case .refuse(let refusal): refuse(because: program.explanation(of: refusal, for: currentEvent))
        case .penalizeWake(let reason): log("the \(reason.kind) wake \(reason.id) was not completed in time")
        case .reportWake(let reason, let result):
            perform(components.wakes.complete(reason, result: result, in: view, at: context.clock.now))
        case .reportURL(let url, let outcome):
            log("\(url)\(url.source.map { " from \($0)" } ?? ""): \(outcome)")
            answerSender(of: url, outcome: outcome)
        case .cancelTransfers: context.transfers.cancelAll(of: program)
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
    private func answerSender(of url: IncomingURL, outcome: IncomingURL.Outcome) {
        let obstacle = process == nil ? lastObstacle : nil
        perform(components.urls.complete(url, outcome: outcome, startObstacle: obstacle))
    }

    /// Passes a refusal to those who wait for the outcome of the request.
    func reportRefusal(of event: LifecycleEvent, because refusal: LifecycleEffect.Refusal) {
        if case .openURL(let url) = event { answerSender(of: url, outcome: .refused(refusal)) }
        guard case .wake(let wake, _) = event else { return }
        perform(components.wakes.refuse(wake, because: refusal, at: context.clock.now))
    }

    // MARK: Suspension

    func requestIdleReport() {
        guard let process else { return }
        process.requestIdleReport()
        if process.page.openTasks == 0 { handle(.openTaskCountChanged(0, process: process.identity)) }
    }

    /// Watches the terminal of a suspended process, and the connections by which others reach it.
    func watchSuspended() {
        components.suspension.watchTerminal(in: view)
        if let process { process.callers = Callers(of: process.freezer.processes) }
        watchCallers()
    }

    func watchCallers() {
        process?.callers.watch(with: context.poller) { [unowned self] source in
            perform(components.thaws.request(from: source, in: view))
        }
    }

    // MARK: Ends

    func kill(for reason: KillReason) {
        guard let process else { return }
        let limit = context.configuration.quitGracePeriod
        if reason == .terminatedWhileSuspended, components.plain.beginEnd(at: Clock.now, limit: limit) {
            return process.requestEnd()
        }
        process.kill(for: reason, isPlain: components.plain.isRunning)
        components.adoption.record?.killReport = process.reasons.kill
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
