import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// Processes of an earlier supervisor, and processes that somebody else has started.
extension SupervisedApplication {
    /// Takes over a process that is frozen: it stays so, and connects when it continues.
    func adoptFrozen(_ process: RunningProcess, recordedAs found: ApplicationRecord.ProcessRecord) {
        (adoptionDeadline, adoptedRecord) = (nil, nil)
        // A freeze may have been begun and not verified: it is begun again.
        guard case .verified = FreezeAttempt.begin(process.freezer, page: process.page) else {
            process.freezer.thaw()
            process.suspensionTime = nil
            (adoptionDeadline, adoptedRecord) = (Clock.now + context.configuration.reconnectionLimit, found)
            return
        }
        process.suspensionTime = found.suspensionTime ?? Clock.now
        log("adopted: suspended, process \(process.handle.identifier)")
        take(process, as: AdoptedProcess(.suspended))
        process.presentation = found.intention.presentation
        watchTerminal()
        resume(found.intention, presentation: nil, launchesInBackground: false)
    }

    /// Takes over a process that has connected, in the state that it reports.
    func adopt(_ process: RunningProcess, running: Hello.RunningState?, presentation: PresentationMessage?) {
        adoptionDeadline = nil
        guard let running else {
            // It was not launched yet.
            let isBackground = adoptedRecord?.isBackgroundLaunch ?? false
            let intention = adoptedRecord?.intention
            adoptedRecord = nil
            process.identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
            handle(.processConnected(inBackground: isBackground))
            if let intention { resume(intention, presentation: nil, launchesInBackground: isBackground) }
            return handleWaitingRequests()
        }
        // The application knows best; the record knows what was on its way.
        let (wakes, intention) = (running.wakes, adoptedRecord?.intention)
        process.sound.isMade = running.assertions.contains(.audio)
        process.resumesWork = adoptedRecord?.assertions.contains(.continued) ?? false
        // Only a supervisor makes it.
        let assertions = process.resumesWork ? running.assertions : running.assertions.subtracting([.continued])
        log("adopted: \(running.state), process \(process.handle.identifier)")
        for wake in wakes { adoptWake(wake) }
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
            adoptWake(wake.reason)
            handle(.wake(wake.reason, allowance: wake.allowance))
        }
    }

    /// Handles a request now, or when the process of an earlier supervisor has connected; returns `false` if too many
    /// wait.
    func handleWhenConnected(_ event: LifecycleEvent) -> Bool {
        guard adoptedRecord != nil else {
            handle(event)
            return true
        }
        guard adoptionDeadline != nil else {
            refuse(event, because: .notConnected)
            return true
        }
        guard waitingRequests.count < Self.maximumWaitingRequests else { return false }
        waitingRequests.append(event)
        saveRecord()
        return true
    }

    static let maximumWaitingRequests = 64

    /// Handles the requests that have waited; those to a process that has ended launch another one, or are refused.
    ///
    /// Each stays in the record until it is handled, for a supervisor that follows if this one is killed meanwhile.
    func handleWaitingRequests() {
        while !waitingRequests.isEmpty {
            let request = waitingRequests.removeFirst()
            if process == nil, !request.isStart {
                refuse(request, because: .processEnded)
            } else {
                if case .wake(let reason, _) = request { adoptWake(reason) }
                handle(request)
            }
        }
    }

    /// Leaves a process alone that has not connected in time: it continues without a supervisor, and may still connect.
    func giveUpAdoption() {
        adoptionDeadline = nil
        guard let process else { return }
        log("process \(process.handle.identifier) has not connected, and continues without supervision")
        refuseWaitingRequests(.notConnected)
        saveRecord()
    }

    func refuseWaitingRequests(_ refusal: LifecycleEffect.Refusal) {
        while !waitingRequests.isEmpty { refuse(waitingRequests.removeFirst(), because: refusal) }
    }

    private func refuse(_ request: LifecycleEvent, because refusal: LifecycleEffect.Refusal) {
        perform(.refuse(refusal))
        reportRefusal(of: request, because: refusal)
    }

    private func take(_ process: RunningProcess, as adopted: AdoptedProcess) {
        adoptedRecord = nil
        // Before the event, whose effects concern the process by its new identity.
        process.identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
        // One that runs again was continued without a message, and holds its notices until it knows.
        if adopted.state != .suspended { deliverNotices() }
        handle(.processAdopted(adopted))
        process.identity = lifecycle.process
    }
}
