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

    var view: ApplicationView { ApplicationView(of: self) }

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
        case .wake(let kind, let session, let payload):
            let now = context.clock.now
            perform(components.wakes.start(kind, session: session, payload: payload, in: view, at: now))
        case .watchConditions(let isNeeded): watchConditions(isNeeded)
        case .forgiveWakeCrashes:
            lifecycle.history.wakeCrashCounts = [:]
            components.wakes.recordCrashes(in: view)
        case .saveWakes: saveWakes()
        case .recordObstacle(let text): lastObstacle = text
        case .showProgress(let work, let name): context.desktop?.show(work, named: name, of: self)
        case .withdrawProgress(let number, let work):
            context.desktop?.withdrawProgress(number, work: work, of: identifier)
        case .reportSessionFailure(let session): context.transfers.reportFailure(of: session, to: program)
        case .updateTransferHold: context.transfers.updateHold(of: program)
        case .thawBriefly: process?.thawBriefly()
        case .endBriefThaw: if let process { perform(components.thaws.end(process.endBriefThaw(), in: view)) }
        case .watchCallers: watchCallers()
        case .resumeFreeze: if let process { perform(components.suspension.resume(process.resumeFreeze(), in: view)) }
        case .requestIdleReport: requestIdleReport()
        case .refuse(let reason): refuse(because: reason)
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

    /// Brings the application to the foreground, and tells it why: at once if it runs, else behind the launch.
    func launch(_ reason: LaunchReason, with reply: WakeReply) {
        let isLaunch = process == nil
        if !isLaunch { send(.wakes(reply)) }
        request(.launch(reason))
        if isLaunch { send(.wakes(reply)) }
    }

    private func slowDown(because reason: String) {
        guard let process else { return }
        let report = "\(reason): slowed down (\(process.slowDown()))"
        components.processor.report = report
        log(report)
    }
}
