import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

// The effects of the components, and of the state machine.
extension SupervisedApplication {
    func perform(_ effects: [ApplicationEffect]) {
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: ApplicationEffect) {
        switch effect {
        case .handle(let event): handle(event)
        case .acknowledge(let callback):
            guard let process else { return }
            process.conversation.forgetCallback()
            components.taskNames.cancel()
            handle(.callbackAcknowledged(callback, process: process.identity))
        case .request(let event): request(event)
        case .send(let message): send(message)
        case .log(let text): log(text)
        case .answer(let body, let failure): body(failure)
        case .reportChange: context.changeCount &+= 1
        case .slowDown(let report):
            if let process { perform(components.processor.record(slowing: process.slowDown(), report: report)) }
        case .kill(let reason): if process?.reasons.kill == nil { kill(for: reason) }
        case .wake(let kind, let session, let payload):
            let now = context.clock.now
            perform(components.wakes.start(kind, session: session, payload: payload, in: view, at: now))
        case .watchConditions(let isNeeded):
            let reports = isNeeded ? ConditionReports(poller: context.poller) : nil
            reports?.didChange = { [unowned self] in perform(components.wakes.checkConditions(in: view)) }
            conditionReports = reports
        case .forgiveWakeCrashes:
            lifecycle.history.wakeCrashCounts = [:]
            components.wakes.recordCrashes(in: view)
        case .saveWakes: saveWakes()
        case .saveRecord: saveRecord()
        case .recordOnce(let effects):
            files.isRecordHeld = true
            perform(effects)
            files.isRecordHeld = false
            saveRecord()
        case .findWatchdog:
            process?.findWatchdog()
            applyDeclarations()
        case .recordObstacle(let text): components.remarks.obstacle = text
        case .reportSessionFailure(let session): context.transfers.reportFailure(of: session, to: program)
        case .updateTransferHold: context.transfers.updateHold(of: program)
        case .endBriefThaw:
            guard let process else { return }
            let isAtWork = process.isAtWork
            perform(components.thaws.end(process.endBriefThaw(), isAtWork: isAtWork, in: view))
        case .watchCallers: watchCallers()
        case .watchSuspended: watchSuspended()
        case .continueInBackground: perform(components.continueInBackground(in: view))
        case .claim(let assertion, let isHeld): perform(components.claim(assertion, isHeld: isHeld, in: view))
        case .resumeFreeze: lookAtFreeze(isNew: false)
        case .requestIdleReport:
            guard let process else { return }
            process.requestIdleReport()
            if process.page.openTasks == 0 { handle(.openTaskCountChanged(0, process: process.identity)) }
        case .refuse(let reason): refuse(because: reason)
        case .reject(let request, let refusal):
            perform(LifecycleEffect.refuse(refusal))
            perform(components.reject(request, because: refusal, in: view))
        case .process(let request): process?.perform(request)
        case .desktop(let request): context.desktop?.perform(request, for: self)
        case .terminate: handle(.terminate(grace: context.configuration.quitGracePeriod))
        case .introduce(let event): introduceProcess(by: event)
        case .deliverNotices: perform(LifecycleEffect.deliverNotices)
        case .freezeAgain: if let process { perform(components.adoption.begin(process.freezeAgain(), in: view)) }
        case .reopen(let url): handle(.openURL(components.urls.renumber(url)))
        case .rewake(let wake):
            guard !lifecycle.openWakes.contains(where: { $0.id == wake.reason.id }) else { return }
            components.wakes.adopt(wake.reason, at: context.clock.now)
            handle(wake.event)
        case .handleWaitingRequests: handleWaitingRequests()
        case .forget: context.forget(identifier)
        }
    }

    /// Passes a request to the state machine now, or when the process of an earlier supervisor has connected; refuses
    /// it and returns `false` if too many wait.
    @discardableResult
    func request(_ event: LifecycleEvent) -> Bool {
        if let effects = components.adoption.admit(event) {
            perform(effects)
            return true
        }
        log("too many requests wait: refused")
        perform(components.reject(event, because: .tooManyRequests, in: view))
        return false
    }

    // MARK: The state machine

    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .spawnProcess(let identity): spawn(identity)
        case .deliver(let callback, let deadline):
            components.taskNames.expectCallback(until: deadline, at: Clock.now)
            if let process { process.pass(process.conversation.deliver(callback, deadline: deadline)) }
        case .setTaskPhase(let phase, let deadline): process?.setPhase(phase, deadline: deadline)
        case .expireTasks(let deadline):
            send(.expire(deadline: deadline))
            perform(components.taskNames.request(in: view))
        case .freezeProcess: lookAtFreeze(isNew: true)
        case .thawProcess:
            components.suspension.end()
            process?.thaw()
            // The application first, where this process has the only free processor: what is left to do is records.
            sched_yield()
        case .commitSuspension:
            process?.beginSuspension(at: Clock.now)
            watchSuspended()
        case .deliverNotices: if let message = process?.endSuspension(at: Clock.now) { send(message) }
        case .deleteArchive:
            do throws(SystemError) { try files.deleteArchive() } catch {
                log("cannot delete the saved state: \(error)")
            }
        case .deliverMemoryWarning(let level): send(.memoryWarning(level: UInt8(clamping: level)))
        case .warnAboutLocks:
            log("thawed, \(components.remarks.obstacle ?? "a lock is held"); killed if it happens again within 5 s")
        case .throttleProcess:
            if let process { components.remarks.obstacle = process.throttle(after: lifecycle.rules.freezeLimit) }
        case .exitProcess: components.plain.isRunning ? process?.requestEnd() : send(.exit)
        case .killProcess(let reason): kill(for: reason)
        case .reportExit(let report):
            let ended = components.leftovers.processes.last { $0.identity == report.process } ?? process
            recordEnd(of: ended, as: ended?.text(of: report) ?? ProcessEnd.unknown.explanation)
        case .refuse(let refusal): refuse(because: program.explanation(of: refusal, for: currentEvent))
        case .penalizeWake(let reason): log("the \(reason.kind) wake \(reason.id) was not completed in time")
        case .reportWake(let reason, let result):
            perform(components.wakes.complete(reason, result: result, in: view, at: context.clock.now))
        case .reportURL(let url, let outcome):
            log("\(url)\(url.source.map { " from \($0)" } ?? ""): \(outcome)")
            perform(components.answerSender(of: url, outcome: outcome, in: view))
        case .cancelTransfers: context.transfers.cancelAll(of: program)
        // The application saves its archive; the rest concerns an application without a supervisor.
        case .saveArchive, .extendStopTimeout, .releaseSleepInhibitor, .acquireSleepInhibitor: break
        }
    }

    /// Sends a message now, or after the application's `hello`.
    func send(_ message: SupervisorMessage) { if !components.plain.isRunning { process?.send(message) } }

    /// Records a refusal, for `eidetic app why` and the log.
    func refuse(because reason: String) {
        components.remarks.refusal = reason
        log("refused: \(reason)")
    }

    /// Begins to freeze the process, or looks at it again; the state machine learns when everything is stopped.
    private func lookAtFreeze(isNew: Bool) {
        guard let process else { return }
        let attempt = isNew ? FreezeAttempt.begin : FreezeAttempt.resume
        perform(components.suspension.record(attempt(process.freezer, process.page.file), isNew: isNew, in: view))
    }

    /// Watches the terminal of a suspended process, and the connections by which others reach it.
    func watchSuspended() {
        components.suspension.watchTerminal(in: view)
        watchCallers(isNew: true)
    }

    func watchCallers(isNew: Bool = false) {
        process?.watchCallers(isNew: isNew, with: context.poller) { [unowned self] source in
            perform(components.thaws.request(from: source, in: view))
        }
    }

    func kill(for reason: KillReason) {
        guard let process else { return }
        let limit = context.configuration.quitGracePeriod
        if reason == .terminatedWhileSuspended, components.plain.beginEnd(at: Clock.now, limit: limit) {
            return process.requestEnd()
        }
        process.kill(for: reason, isPlain: components.plain.isRunning)
        components.adoption.record?.killReport = process.reasons.kill
    }

    /// Records the end of a process, and saves the reason for the next launch if this supervisor has ended it.
    func recordEnd(of ended: RunningProcess?, as text: String) {
        do throws(SystemError) { try ended?.reasons.report.map(files.saveExitReport) } catch {
            log("cannot save the report of its end: \(error)")
        }
        components.remarks.exit = text
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

extension LifecycleEffect {
    var refusal: Refusal? { if case .refuse(let refusal) = self { refusal } else { nil } }
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
