import EideticCore
import EideticWire
import Glibc
import LifecycleCore

// Processes of an earlier supervisor, and processes that somebody else has started.
extension SupervisedApplication {
    /// Restores what an earlier supervisor has recorded, and takes over its process if it runs.
    func restore(_ record: ApplicationRecord) {
        (program, processNumber) = (record.program, record.processNumber)
        lifecycle.wasForceQuit = record.wasForceQuit
        lifecycle.launchCrashCount = Int(record.launchCrashCount)
        waitingRequests = record.waitingWakes.map { .wake($0.reason, allowance: $0.allowance) }
        guard let found = record.process else { return }
        guard let process = openProcess(found) else { return lostProcess = found }
        process.killReport = found.killReport
        (process.suspensionTime, process.isBackgroundLaunch) = (found.suspensionTime, found.isBackgroundLaunch)
        process.suspensionCount = process.page[.suspensionCount] ?? 0
        process.suspendedTime = .nanoseconds(Int64(clamping: process.page[.suspendedTime] ?? 0))
        adoptedRecord = found
        apply(found.declarations, to: process)
        adoptionDeadline = Clock.now + context.configuration.reconnectionLimit
        adoptProcess(process)
        if let report = process.killReport {
            log("adopted while it is being killed: \(report)")
            return process.freezer.kill()
        }
        // The kernel knows whether it is frozen, whatever was recorded.
        if found.state == .suspended || found.state == .background, process.freezer.isFreezeRequested {
            adoptFrozen(process, recordedAs: found)
        } else {
            process.freezer.thaw()
            log("process \(process.handle.identifier) found, expected to connect")
        }
    }

    private func openProcess(_ found: ApplicationRecord.ProcessRecord) -> RunningProcess? {
        let group = found.freezer == .group ? openGroup(of: found) : nil
        guard let handle = openHandle(found, in: group) else {
            abandon(group)
            return nil
        }
        let pagePath = "\(context.directory.directory(of: identifier))/page.\(processNumber)"
        guard let (page, token) = openPage(at: pagePath) else {
            leave(handle, in: group)
            return nil
        }
        return RunningProcess(
            number: processNumber,
            identity: lifecycle.process,
            handle: handle,
            freezer: freezer(of: handle, in: group),
            page: page,
            pagePath: pagePath,
            token: token
        )
    }

    /// Leaves a process alone whose page can neither be opened nor made.
    private func leave(_ handle: ProcessHandle, in group: GroupFreezer?) {
        freezer(of: handle, in: group).thaw()
        log("process \(handle.identifier) cannot be supervised, as its page cannot be opened: it runs on alone")
    }

    /// Opens the control group that the earlier supervisor has recorded, or else that in which the kernel has the
    /// process: this supervisor may make its own groups elsewhere.
    private func openGroup(of found: ApplicationRecord.ProcessRecord) -> GroupFreezer? {
        let recorded = found.groupPath.flatMap { try? GroupFreezer(existing: $0) }
        if let recorded, found.identifier <= 0 || recorded.processes.contains(found.identifier) { return recorded }
        if let path = GroupHierarchy.group(of: found.identifier), path.hasSuffix("/\(identifier)@\(processNumber)"),
            let group = try? GroupFreezer(existing: path)
        {
            return group
        }
        return recorded
    }

    /// Opens the recorded process, or the one that was born before its number was recorded.
    private func openHandle(_ found: ApplicationRecord.ProcessRecord, in group: GroupFreezer?) -> ProcessHandle? {
        if found.identifier > 0 { return ProcessHandle(identifier: found.identifier, startTime: found.startTime) }
        let marked = group?.processes ?? markedProcesses
        return marked.compactMap { ProcessStatus(of: $0) }.min { $0.startTime < $1.startTime }
            .flatMap { ProcessHandle(identifier: $0.identifier, startTime: $0.startTime) }
    }

    private var markedProcesses: [Int32] {
        ProcessStatus.all.map(\.identifier).filter { process in
            ProcessStatus.environmentValue(of: SignalFreezer.markName, in: process) == mark(of: processNumber)
        }
    }

    /// Opens the page of the earlier supervisor; makes a new one if it is damaged.
    private func openPage(at path: String) -> (SharedPageFile, [UInt8])? {
        if let page = try? SharedPageFile.open(at: path), let first = page[.token], let second = page[.tokenEnd] {
            let bytes = [first, second].flatMap { word in
                (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
            }
            return (page, bytes)
        }
        unlink(path)
        let token = SupervisorContext.makeToken(length: SupervisionProtocol.tokenLength)
        return (try? SharedPageFile.create(at: path, generation: context.generation, token: token)).map { ($0, token) }
    }

    private func abandon(_ group: GroupFreezer?) {
        guard let group else { return }
        group.kill()
        _ = group.remove()
    }

    /// Completes the restoration, when all applications are known: launches for accepted wakes, and kills what is left
    /// of a process that has ended without a supervisor.
    func completeRestoration() {
        if let lostProcess { recordLoss(of: lostProcess) }
        lostProcess = nil
        if process == nil { handleWaitingRequests() }
    }

    private func recordLoss(of found: ApplicationRecord.ProcessRecord) {
        defer { saveRecord() }
        for url in found.intention.urls {
            log("\(IncomingURL(url, id: 0)): refused, the process ended before it was asked")
        }
        waitingRequests += found.intention.wakes.map { .wake($0.reason, allowance: $0.allowance) }
        guard found.identifier > 0 else { return }
        if ProcessHandle(identifier: found.identifier, startTime: found.startTime) != nil {
            // It runs on without supervision.
            return refuseWaitingRequests(.alreadyRunning)
        }
        killOrphans(of: found)
        reportEnd(found.killReport ?? "ended while no supervisor ran")
    }

    /// Kills what is left of the tree of an ended process that signals have stopped.
    ///
    /// The mark in the environment alone is not enough, as every program inherits it: an orphan is a process of this
    /// user, no older than the ended one, and not the first one of another application.
    private func killOrphans(of found: ApplicationRecord.ProcessRecord) {
        guard found.freezer == .signals else { return }
        for process in markedProcesses where !context.firstProcesses.contains(process) {
            guard let status = ProcessStatus(of: process), status.startTime >= found.startTime,
                ProcessStatus.user(of: process) == geteuid()
            else { continue }
            ProcessHandle(identifier: process, startTime: status.startTime)?.signal(SIGKILL)
        }
    }

    /// Takes over a process that is frozen: it stays so, and connects when it continues.
    private func adoptFrozen(_ process: RunningProcess, recordedAs found: ApplicationRecord.ProcessRecord) {
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
        log("adopted: \(running.state), process \(process.handle.identifier)")
        let state = running.state == .suspended ? AdoptedProcess.State.background : running.state
        take(
            process,
            as: AdoptedProcess(state, openTasks: process.openTasks, wakes: wakes, assertions: running.assertions)
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
        for url in intention.urls {
            lastSequence += 1
            handle(.openURL(IncomingURL(url, id: lastSequence)))
        }
        let received = Set(lifecycle.openWakes)
        for wake in intention.wakes where !received.contains(wake.reason) {
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

    private func refuseWaitingRequests(_ refusal: LifecycleEffect.Refusal) {
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
