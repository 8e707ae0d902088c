import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// What an earlier supervisor has recorded, and what is left of its processes.
extension SupervisedApplication {
    /// Restores what an earlier supervisor has recorded, and takes over its process if it runs.
    func restore(_ record: ApplicationRecord) {
        (program, processNumber) = (record.program ?? program, record.processNumber)
        lifecycle.wasForceQuit = lifecycle.wasForceQuit || record.wasForceQuit
        lifecycle.launchCrashCount = Int(record.launchCrashCount)
        restoreWakeCrashes(record.wakeCrashCounts)
        // Numbers that an earlier call has given.
        urlTokens = [:]
        waitingRequests = requests(waitingIn: record)
        guard let found = record.process else { return }
        strayProgress = found.progressNumbers
        guard let process = openProcess(found) else { return lostProcess = found }
        process.killReport = found.killReport
        process.memoryPriorities = MemoryPriorities(chosen: found.memoryPriorities)
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

    private func requests(waitingIn record: ApplicationRecord) -> [LifecycleEvent] {
        var requests: [LifecycleEvent] = []
        switch record.waitingLaunch {
        case .foreground: requests = [.launch(.user)]
        case .background: requests = [.launchInBackground(.user)]
        case nil: break
        }
        requests += record.waitingURLs.map { .openURL(renumbered($0)) }
        return requests + record.waitingWakes.map { .wake($0.reason, allowance: $0.allowance) }
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
            token: token,
            configuration: context.configuration
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

    /// Keeps what a process of an earlier supervisor has not received for the next process, which is launched for it.
    func keepRequests(of intention: ApplicationRecord.Intention) {
        waitingRequests += intention.urls.map { .openURL(renumbered($0)) }
        waitingRequests += intention.wakes.map { .wake($0.reason, allowance: $0.allowance) }
    }

    private func recordLoss(of found: ApplicationRecord.ProcessRecord) {
        defer { saveRecord() }
        keepRequests(of: found.intention)
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
}
