import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

// What an earlier supervisor has recorded, its process, and the requests that wait for it.
extension SupervisedApplication {
    /// Restores what an earlier supervisor has recorded, and takes over its process if it runs.
    func restore(_ record: ApplicationRecord) {
        program.installed = record.program ?? program.installed
        processNumber = record.processNumber
        lifecycle.history.wasForceQuit = lifecycle.history.wasForceQuit || record.wasForceQuit
        lifecycle.history.launchCrashCount = Int(record.launchCrashCount)
        lifecycle.history.restoreWakeCrashes(record.wakeCrashCounts)
        // Numbers that an earlier call has given.
        components.urls.forgetTokens()
        components.adoption.restore(record.requests { components.urls.renumber($0) })
        guard let found = record.process else { return }
        components.urls.announce(found.intention.urls)
        components.work.strays = found.progressNumbers
        guard let process = place.open(found, identity: lifecycle.process) else {
            return components.adoption.lost = found
        }
        components.adoption.expect(found, at: Clock.now)
        adoptProcess(process)
        process.record(found.declarations, below: context.hierarchy)
        applyDeclarations()
        if let report = process.reasons.kill {
            log("adopted while it is being killed: \(report)")
            return process.freezer.kill()
        }
        if found.isPlain { components.plain.adopt() }
        // The kernel knows whether it is frozen, whatever was recorded.
        if found.state == .suspended || found.state == .background, process.freezer.isFreezeRequested {
            adoptFrozen(process, recordedAs: found)
        } else if found.isPlain {
            process.cancelSuspension()
            log("adopted: process \(process.handle.identifier), which does not connect")
            components.adoption.end()
            recordOnce {
                take(AdoptedProcess(found.state == .suspended ? .background : found.state ?? .active))
                perform(components.adoption.resumption(of: found.intention, in: view))
            }
        } else {
            process.freezer.thaw()
            log("process \(process.handle.identifier) found, expected to connect")
        }
    }

    /// Takes over a process that is frozen: it stays so, and connects when it continues.
    private func adoptFrozen(_ process: RunningProcess, recordedAs found: ApplicationRecord.ProcessRecord) {
        // A freeze may have been begun and not verified: it is begun again.
        guard case .verified = process.beginFreeze() else {
            process.cancelSuspension()
            return components.adoption.expect(found, at: Clock.now)
        }
        components.adoption.end()
        process.suspensions.resume(at: Clock.now)
        log("adopted: suspended, process \(process.handle.identifier)")
        recordOnce {
            take(AdoptedProcess(.suspended))
            process.conversation.presentation = found.intention.presentation
            watchSuspended()
            perform(components.adoption.resumption(of: found.intention, in: view))
        }
    }

    /// Makes the current process known to the state machine.
    func take(_ adopted: AdoptedProcess) {
        // One that runs again was continued without a message, and holds its notices until it knows.
        if adopted.state != .suspended { deliverNotices() }
        introduceProcess(by: .processAdopted(adopted))
    }

    /// Passes an event that makes the current process known to the state machine.
    func introduceProcess(by event: LifecycleEvent) {
        let process = process
        // Before the event, whose effects concern the process by its new identity.
        process?.identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
        handle(event)
        process?.identity = lifecycle.process
    }

    /// Takes over the process that has connected, in the state that it reports.
    func adopt(_ running: Hello.RunningState?, presentation: PresentationMessage?) {
        if let running {
            components.sound.claim(running.assertions.contains(.audio))
            components.work.resumes = components.adoption.record?.assertions.contains(.continued) ?? false
            for wake in running.wakes { components.wakes.adopt(wake, at: context.clock.now) }
        }
        recordOnce { perform(components.adoption.connect(running: running, presentation: presentation, in: view)) }
    }

    // MARK: Requests that wait

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

    // MARK: A process that has ended

    /// Completes the restoration, when all applications are known: launches for accepted wakes, and kills what is left
    /// of a process that has ended without a supervisor.
    func completeRestoration() {
        if let lost = components.adoption.lost { recordLoss(of: lost) }
        components.adoption.lost = nil
        if process == nil { handleWaitingRequests() }
    }

    /// Keeps what a process of an earlier supervisor has not received for the next process, which is launched for it.
    func keepRequests(of intention: ApplicationRecord.Intention) {
        components.adoption.keep(intention.urls.map { .openURL(components.urls.renumber($0)) })
        components.adoption.keep(intention.wakes.map(\.event))
    }

    private func recordLoss(of found: ApplicationRecord.ProcessRecord) {
        defer { saveRecord() }
        keepRequests(of: found.intention)
        guard found.identifier > 0 else { return }
        if ProcessHandle(identifier: found.identifier, startTime: found.startTime) != nil {
            // It runs on without supervision.
            return refuseWaitingRequests(.alreadyRunning)
        }
        place.killOrphans(of: found)
        reportEnd(found.killReport ?? "ended while no supervisor ran")
    }
}
