import EideticLifecycle
import EideticSupervision

// The components, which learn of changes, and whose effects are performed here.
extension SupervisedApplication {
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

    var view: ApplicationView {
        let executable = program.description?.executable
        var view = ApplicationView(lifecycle, process: process?.view(ofProgram: executable), at: Clock.now)
        view.hasProgram = program.isKnown
        view.isDeclared = program.manifest.manifest != nil
        view.explanation = program.manifest.explanation
        view.hasLeftovers = !components.leftovers.processes.isEmpty
        view.isAdopting = components.adoption.record != nil
        view.isPlain = components.plain.isRunning
        view.isWokenForData = components.wakes.isActive(.voip)
        view.scheduleTime = { [context] in context.clock.now }
        view.conditions = { MachineConditions.current }
        view.programFile = { [executable] in WakeCrashes.ProgramFile(at: executable) }
        view.hasBus = context.desktop?.session?.connection != nil
        view.unreadSources = { [unowned self] in process?.callers.unreadSources ?? [] }
        view.playingProcesses = { [sound = context.sound] in sound.playingProcesses }
        return view
    }

    func perform(_ effects: [ApplicationEffect]) {
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: ApplicationEffect) {
        switch effect {
        case .handle(let event): handle(event)
        case .acknowledge(let callback):
            process?.conversation.forgetCallback()
            components.taskNames.cancel()
            handle(.callbackAcknowledged(callback, process: lifecycle.process))
        case .request(let event): request(event)
        case .send(let message): send(message)
        case .log(let text): log(text)
        case .answer(let body, let failure): body(failure)
        case .reportChange: context.changeCount &+= 1
        case .slowDown(let report): slowDown(because: report)
        case .restorePriority: process?.restorePriority()
        case .kill(let reason): if process?.reasons.kill == nil { kill(for: reason) }
        case .explainEnd(let report): process?.reasons.report = report
        case .wake(let kind, let session, let payload): start(kind, session: session, payload: payload)
        case .watchConditions(let isNeeded): watchConditions(isNeeded)
        case .forgiveWakeCrashes:
            lifecycle.wakeCrashCounts = [:]
            components.wakes.recordCrashes(in: view)
        case .saveWakes: saveWakes()
        case .recordObstacle(let text): lastObstacle = text
        case .showProgress(let work, let name): context.desktop?.show(work, named: name, of: self)
        case .withdrawProgress(let number, let work):
            context.desktop?.withdrawProgress(number, work: work, of: identifier)
        case .updateTransferHold: sendTransferHold()
        case .thawBriefly: thawBriefly()
        case .endBriefThaw: endBriefThaw()
        case .resumeFreeze: freeze(again: true)
        case .requestIdleReport: requestIdleReport()
        case .refuse(let refusal, let reason): refuse(refusal, because: reason)
        case .desktop(let request): context.desktop?.perform(request, for: self)
        case .take(let adopted): take(adopted)
        case .takeUnlaunched(let isBackground): introduceProcess(by: .processConnected(inBackground: isBackground))
        case .expectTermination: process?.conversation.repeatsTermination = true
        case .reopen(let url): handle(.openURL(components.urls.renumber(url)))
        case .rewake(let wake):
            guard !lifecycle.openWakes.contains(where: { $0.id == wake.reason.id }) else { return }
            components.wakes.adopt(wake.reason, at: context.clock.now)
            handle(wake.event)
        case .handleWaitingRequests: handleWaitingRequests()
        case .refuseWaitingRequests(let refusal): refuseWaitingRequests(refusal)
        case .forget: context.forget(identifier)
        }
    }

    /// Passes a request to the state machine now or later, and refuses it if too many wait.
    func request(_ event: LifecycleEvent) {
        guard !handleWhenConnected(event) else { return }
        log("too many requests wait: refused")
        reportRefusal(of: event, because: .tooManyRequests)
    }

    private func slowDown(because reason: String) {
        guard let process else { return }
        let report = "\(reason): slowed down (\(process.slowDown()))"
        components.processor.report = report
        log(report)
    }
}

extension RunningProcess {
    fileprivate func view(ofProgram executable: String?) -> ApplicationView.Process {
        var view = ApplicationView.Process(identity)
        view.isWelcomed = conversation.isOpen
        view.number = handle.identifier
        view.isIdleReportRequested = conversation.isIdleReportRequested
        view.isForegroundJob = { [number = handle.identifier] in ProcessStatus(of: number)?.isForegroundJob }
        view.isSuspended = suspensions.start != nil
        view.isBeingKilled = reasons.kill != nil
        view.isThrottled = isThrottled
        view.openTasks = page.openTasks
        view.slowStart = slowStart(of: executable)
        view.identifiers = { [freezer] in freezer.processes }
        view.processorTime = { [freezer] in freezer.usedProcessorTime }
        return view
    }
}
