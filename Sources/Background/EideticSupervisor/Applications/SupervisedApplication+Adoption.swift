import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// Processes of an earlier supervisor, and processes that somebody else has started.
extension SupervisedApplication {
    /// Takes over a process that is frozen: it stays so, and connects when it continues.
    func adoptFrozen(_ process: RunningProcess, recordedAs found: ApplicationRecord.ProcessRecord) {
        components.adoption.end()
        // A freeze may have been begun and not verified: it is begun again.
        guard case .verified = FreezeAttempt.begin(process.freezer, page: process.page) else {
            process.freezer.thaw()
            process.suspensionTime = nil
            return components.adoption.expect(found, at: Clock.now)
        }
        process.suspensionTime = found.suspensionTime ?? Clock.now
        log("adopted: suspended, process \(process.handle.identifier)")
        take(process, as: AdoptedProcess(.suspended))
        process.presentation = found.intention.presentation
        components.suspension.watchTerminal(in: view)
        watchCallers()
        resume(found.intention, presentation: nil, launchesInBackground: false)
    }

    /// Takes over a process that connects to no supervisor, in the state that was recorded.
    func adoptPlain(_ process: RunningProcess, recordedAs found: ApplicationRecord.ProcessRecord) {
        process.freezer.thaw()
        process.suspensionTime = nil
        log("adopted: process \(process.handle.identifier), which does not connect")
        take(process, as: AdoptedProcess(found.state == .suspended ? .background : found.state ?? .active))
        resume(found.intention, presentation: nil, launchesInBackground: false)
    }

    /// Takes over a process that has connected, in the state that it reports.
    func adopt(_ process: RunningProcess, running: Hello.RunningState?, presentation: PresentationMessage?) {
        components.adoption.endTime()
        guard let running else {
            // It was not launched yet.
            let isBackground = components.adoption.record?.isBackgroundLaunch ?? false
            let intention = components.adoption.record?.intention
            components.adoption.end()
            process.identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
            handle(.processConnected(inBackground: isBackground))
            if let intention { resume(intention, presentation: nil, launchesInBackground: isBackground) }
            return handleWaitingRequests()
        }
        // The application knows best; the record knows what was on its way.
        let (wakes, intention) = (running.wakes, components.adoption.record?.intention)
        components.sound.claim(running.assertions.contains(.audio))
        let resumesWork = components.adoption.record?.assertions.contains(.continued) ?? false
        components.work.resumes = resumesWork
        // Only a supervisor makes it.
        let assertions = resumesWork ? running.assertions : running.assertions.subtracting([.continued])
        log("adopted: \(running.state), process \(process.handle.identifier)")
        for wake in wakes { components.wakes.adopt(wake, at: context.clock.now) }
        let state = running.state == .suspended ? AdoptedProcess.State.background : running.state
        take(
            process,
            as: AdoptedProcess(state, openTasks: process.openTasks, wakes: wakes, assertions: assertions)
        )
        if let intention { resume(intention, presentation: presentation, launchesInBackground: false) }
        handleWaitingRequests()
    }

    /// Continues with the requests that the earlier supervisor has accepted; a presentation that has changed since is
    /// newer than they are.
    private func resume(
        _ intention: ApplicationRecord.Intention,
        presentation: PresentationMessage?,
        launchesInBackground: Bool
    ) {
        // First, or the application would become active on its way to the end.
        if intention.isTerminating {
            process?.repeatsTermination = true
            let grace = context.configuration.quitGracePeriod
            // What is left of the time that the earlier supervisor has granted.
            handle(.terminate(grace: intention.graceEnd.map { min(max(.zero, $0 - Clock.now), grace) } ?? grace))
        }
        let changed = presentation.flatMap { $0 == intention.presentation ? nil : $0 }
        let isVisible = changed?.isVisible ?? intention.isVisible
        if isVisible || !launchesInBackground {
            handle(isVisible ? .show : .enterBackground)
            handle(changed?.isFocused ?? intention.isFocused ? .activate : .deactivate)
        }
        for url in intention.urls { handle(.openURL(renumbered(url))) }
        let received = Set(lifecycle.openWakes.map(\.id))
        for wake in intention.wakes where !received.contains(wake.reason.id) {
            components.wakes.adopt(wake.reason, at: context.clock.now)
            handle(.wake(wake.reason, allowance: wake.allowance))
        }
    }

    /// Handles a request now, or when the process of an earlier supervisor has connected; returns `false` if too many
    /// wait.
    func handleWhenConnected(_ event: LifecycleEvent) -> Bool {
        switch components.adoption.admit(event) {
        case .handled: handle(event)
        case .waits: saveRecord()
        case .refused(let refusal): refuse(event, because: refusal)
        case .tooMany: return false
        }
        return true
    }

    /// Handles the requests that have waited; those to a process that has ended launch another one, or are refused.
    func handleWaitingRequests() {
        while let request = components.adoption.next() {
            if process == nil, !request.isStart {
                refuse(request, because: .processEnded)
            } else {
                if case .wake(let reason, _) = request { components.wakes.adopt(reason, at: context.clock.now) }
                handle(request)
            }
        }
    }

    func refuseWaitingRequests(_ refusal: LifecycleEffect.Refusal) {
        while let request = components.adoption.next() { refuse(request, because: refusal) }
        saveRecord()
    }

    private func refuse(_ request: LifecycleEvent, because refusal: LifecycleEffect.Refusal) {
        perform(.refuse(refusal))
        reportRefusal(of: request, because: refusal)
    }

    private func take(_ process: RunningProcess, as adopted: AdoptedProcess) {
        components.adoption.end()
        // Before the event, whose effects concern the process by its new identity.
        process.identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
        // One that runs again was continued without a message, and holds its notices until it knows.
        if adopted.state != .suspended { deliverNotices() }
        handle(.processAdopted(adopted))
        process.identity = lifecycle.process
    }
}
