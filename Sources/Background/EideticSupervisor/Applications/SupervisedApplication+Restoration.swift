import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// What an earlier supervisor has recorded, and what is left of its processes.
extension SupervisedApplication {
    /// Restores what an earlier supervisor has recorded, and takes over its process if it runs.
    func restore(_ record: ApplicationRecord) {
        program = record.program ?? program
        processNumber = record.processNumber
        lifecycle.wasForceQuit = lifecycle.wasForceQuit || record.wasForceQuit
        lifecycle.launchCrashCount = Int(record.launchCrashCount)
        restoreWakeCrashes(record.wakeCrashCounts)
        // Numbers that an earlier call has given.
        components.urls.forgetTokens()
        components.adoption.restore(requests(waitingIn: record))
        guard let found = record.process else { return }
        components.work.strays = found.progressNumbers
        guard let process = place.open(found, identity: lifecycle.process) else { return lostProcess = found }
        process.killReport = found.killReport
        process.memoryPriorities = MemoryPriorities(chosen: found.memoryPriorities)
        process.suspensionTime = found.suspensionTime
        process.isBackgroundLaunch = found.isBackgroundLaunch
        process.suspensionCount = process.page[.suspensionCount] ?? 0
        process.suspendedTime = .nanoseconds(Int64(clamping: process.page[.suspendedTime] ?? 0))
        components.adoption.expect(found, at: Clock.now)
        adoptProcess(process)
        apply(found.declarations, to: process)
        if let report = process.killReport {
            log("adopted while it is being killed: \(report)")
            return process.freezer.kill()
        }
        if found.isPlain { components.plain.adopt() }
        // The kernel knows whether it is frozen, whatever was recorded.
        if found.state == .suspended || found.state == .background, process.freezer.isFreezeRequested {
            adoptFrozen(process, recordedAs: found)
        } else if found.isPlain {
            adoptPlain(process, recordedAs: found)
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

    /// Completes the restoration, when all applications are known: launches for accepted wakes, and kills what is left
    /// of a process that has ended without a supervisor.
    func completeRestoration() {
        if let lostProcess { recordLoss(of: lostProcess) }
        lostProcess = nil
        if process == nil { handleWaitingRequests() }
    }

    /// Keeps what a process of an earlier supervisor has not received for the next process, which is launched for it.
    func keepRequests(of intention: ApplicationRecord.Intention) {
        components.adoption.keep(intention.urls.map { .openURL(renumbered($0)) })
        components.adoption.keep(intention.wakes.map { .wake($0.reason, allowance: $0.allowance) })
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
