import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

extension SupervisedApplication {
    /// The state for `eidetic app list`.
    var status: ApplicationStatus {
        var status = ApplicationStatus(identifier: identifier, state: visibleState)
        status.wasForceQuit = lifecycle.wasForceQuit
        status.lastExit = lastExit.map { String(decoding: $0.utf8.prefix(2_000), as: UTF8.self) }
        let snapshot = context.directory.snapshotPath(of: identifier)
        if access(snapshot, F_OK) == 0 { status.snapshotPath = snapshot }
        guard let process else { return status }
        status.process = process.handle.identifier
        status.freezer = process.freezer.kind == .group ? .controlGroup : .signal
        status.openTasks = UInt32(clamping: process.openTasks)
        status.backgroundTimeRemaining = lifecycle.backgroundTimeEnd.map { max(.zero, $0 - Clock.now) }
        status.suspensionCount = process.suspensionCount
        status.suspendedTime = process.suspendedTime + (process.suspensionTime.map { Clock.now - $0 } ?? .zero)
        status.residentMemory = process.residentMemory
        return status
    }

    /// The state; that of the record while a process of an earlier supervisor has not connected, and *terminating*
    /// until a killed process has ended.
    private var visibleState: LifecycleState {
        guard let found = adoptedRecord else {
            return lifecycle.state == .notRunning && process != nil ? .terminating : lifecycle.state
        }
        if found.intention.isTerminating { return .terminating }
        switch found.state {
        case .active: return .active
        case .inactive: return .inactive
        case .background, .suspended: return .background
        case nil: return found.isBackgroundLaunch ? .launchingInBackground : .launching
        }
    }

    /// Explains the state and the wakes: each condition that is not met, and the next chance.
    var explanation: [String] { stateExplanation + wakeLines }

    private var stateExplanation: [String] {
        var lines = ["\(identifier) is \(visibleState)\(process.map { ", process \($0.handle.identifier)" } ?? "")"]
        if let report = process?.killReport {
            lines.append("process \(process?.handle.identifier ?? 0) is being \(report)")
        }
        if adoptedRecord != nil {
            let time = adoptionDeadline.map { "yet; \(Self.left($0)) until its requests are refused" }
            lines.append("it was started by an earlier supervisor and has not connected \(time ?? "in time")")
        }
        guard let process, process.killReport == nil else { return lines + obstaclesToStart }
        if let slowStart { lines.append(slowStart) }
        if let pending = process.pendingCallback {
            let end = process.tracer.map { "no limit, as it is traced by process \($0)" }
            lines.append(
                "\(pending.callback) is not acknowledged; \(end ?? "\(Self.left(pending.deadline)) until it is killed")"
            )
        }
        for stuck in Self.uninterruptible(process.freezer.processes) {
            lines.append("process \(stuck) waits in the kernel, where no signal reaches it")
        }
        if !process.isWelcomed, process.suspensionTime == nil { lines.append("it has no connection to the supervisor") }
        lines += obstaclesToSuspension(of: process)
        if process.freezer.kind == .signals {
            lines.append("freezer: SIGSTOP, as no control group of version 2 can be written")
        }
        lines += wakeCrashLines + continuedLines + soundLines + (process.processorReport.map { [$0] } ?? [])
        lines += declarationLines
        if let lastRefusal { lines.append("last refusal: \(lastRefusal.explanation)") }
        return lines
    }

    /// The lines about wakes in which the application has ended.
    private var wakeCrashLines: [String] {
        lifecycle.wakeCrashCounts.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, count in
            "it ended during \(count) \(kind) wakes, one after the other; above \(lifecycle.rules.wakeCrashLimit), "
                + "it is not woken for another one until the user has used it, a day has passed, or its program changes"
        }
    }

    private var obstaclesToStart: [String] {
        var lines: [String] = declarationLines
        if !hasProgram {
            lines.append(
                "no program is known: start it once with `eidetic app launch ID -- PROGRAM`, or install \(identifier).desktop"
            )
        } else if launchProgram == nil {
            lines.append("its program is not found: \(missingProgram)")
        }
        if lifecycle.wasForceQuit {
            lines.append("not started for background work: \(LifecycleEffect.Refusal.forceQuit.explanation)")
        }
        if lifecycle.launchCrashCount > 0 {
            let limit = lifecycle.rules.launchCrashLimit
            lines.append(
                "it crashed during \(lifecycle.launchCrashCount) launches; above \(limit), only the user starts it"
            )
        }
        lines += wakeCrashLines
        if let lastExit { lines.append("last end: \(lastExit)") }
        if let lastObstacle { lines.append("last obstacle: \(lastObstacle)") }
        if let lastRefusal { lines.append("last refusal: \(lastRefusal.explanation)") }
        return lines
    }

    private func obstaclesToSuspension(of process: RunningProcess) -> [String] {
        if process.suspensionTime != nil {
            return ["suspended: continued by `eidetic app foreground`, a URL or a wake"]
        }
        guard lifecycle.isInBackground else { return ["not suspended: it is in the foreground"] }
        var lines: [String] = []
        let count = process.openTasks
        if count > 0 {
            let names = process.taskNames.isEmpty ? "" : ": \(process.taskNames.joined(separator: ", "))"
            lines.append("not suspended: \(count) open background tasks\(names)")
        }
        for wake in lifecycle.openWakes {
            lines.append("not suspended: the \(wake.kind) wake \(wake.id) is not completed")
        }
        for assertion in lifecycle.heldAssertions { lines.append("not suspended: it holds the assertion \(assertion)") }
        if let end = lifecycle.backgroundTimeEnd { lines.append("its background time ends in \(Self.left(end))") }
        if let end = lifecycle.expirationEnd {
            lines.append("its background time is over; killed in \(Self.left(end))")
        }
        if let time = lifecycle.freezeRetryTime { lines.append("next attempt to freeze it in \(Self.left(time))") }
        if let lastObstacle { lines.append("last obstacle: \(lastObstacle)") }
        return lines
    }

    private static func left(_ moment: Duration) -> String {
        let tenths = Int(max(.zero, moment - Clock.now).inMilliseconds / 100)
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
