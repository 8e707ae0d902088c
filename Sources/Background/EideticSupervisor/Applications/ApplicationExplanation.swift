import EideticCore
import EideticLifecycle
import EideticSupervision

/// The explanation of an application's state and wakes for `eidetic app why`: each condition that is not met, and the
/// next chance.
struct ApplicationExplanation {
    private let application: SupervisedApplication

    init(of application: SupervisedApplication) { self.application = application }

    private var identifier: String { application.identifier }
    private var lifecycle: Lifecycle { application.lifecycle }
    private var process: RunningProcess? { application.process }

    var lines: [String] { stateExplanation + wakeLines }

    private var stateExplanation: [String] {
        var lines = [
            "\(identifier) is \(application.components.adoption.state(in: application.view))\(process.map { ", process \($0.handle.identifier)" } ?? "")"
        ]
        if let report = process?.reasons.kill {
            lines.append("process \(process?.handle.identifier ?? 0) is being \(report)")
        }
        if application.components.adoption.record != nil {
            let time = application.components.adoption.deadline.map {
                "yet; \(Self.left($0)) until its requests are refused"
            }
            lines.append("it ran before this eideticd was started, and has not connected \(time ?? "in time")")
        }
        guard let process, process.reasons.kill == nil else { return lines + obstaclesToStart }
        if let slowStart = process.slowStart {
            lines.append(slowStart)
        }
        if let callback = process.conversation.pendingCallback, let deadline = process.conversation.callbackDeadline {
            let end = process.holder.map { "no limit, as it is \($0)" }
            lines.append(
                "\(KillReport.name(of: callback)) is not acknowledged; "
                    + "\(end ?? "\(Self.left(deadline)) until it is killed")"
            )
        }
        for stuck in process.uninterruptible {
            lines.append("process \(stuck) waits in the kernel, where no signal reaches it")
        }
        if application.components.plain.isRunning {
            lines.append("it does not connect: \(PlainProgram.explanation)")
        } else if !process.conversation.isOpen, process.suspensions.start == nil {
            lines.append("it has no connection to the supervisor")
        }
        lines += obstaclesToSuspension(of: process)
        if process.freezer.kind == .signals {
            lines.append("freezer: SIGSTOP, as no control group of version 2 can be written")
        }
        lines += wakeCrashLines + application.components.work.lines(at: Clock.now)
        lines += application.components.sound.lines(
            in: application.view,
            place: application.context.sound.path ?? "no place in the environment"
        )
        if let report = application.components.processor.report { lines.append(report) }
        lines += declarationLines
        if let lastRefusal = application.components.remarks.refusal { lines.append("last refusal: \(lastRefusal)") }
        return lines
    }

    /// The lines about wakes in which the application has ended.
    private var wakeCrashLines: [String] {
        lifecycle.history.wakeCrashCounts.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, count in
            "it ended during \(count) \(kind) wakes, one after the other; above \(lifecycle.rules.wakeCrashLimit), "
                + "it is not woken for another one until the user has used it, a day has passed, or its program changes"
        }
    }

    private var obstaclesToStart: [String] {
        var lines: [String] = declarationLines
        if !application.program.isKnown {
            lines.append(
                "no program is known: start it once with `eidetic app launch ID -- PROGRAM`, or install \(identifier).desktop"
            )
        } else if application.program.description == nil {
            lines.append("its program is not found: \(application.program.missing)")
        }
        if lifecycle.history.wasForceQuit {
            lines.append("not started for background work: \(LifecycleEffect.Refusal.forceQuit.explanation)")
        }
        if lifecycle.history.launchCrashCount > 0 {
            let limit = lifecycle.rules.launchCrashLimit
            lines.append(
                "it crashed during \(lifecycle.history.launchCrashCount) launches; above \(limit), only the user starts it"
            )
        }
        lines += wakeCrashLines
        if let lastExit = application.components.remarks.exit { lines.append("last end: \(lastExit)") }
        if let lastObstacle = application.components.remarks.obstacle { lines.append("last obstacle: \(lastObstacle)") }
        if let lastRefusal = application.components.remarks.refusal { lines.append("last refusal: \(lastRefusal)") }
        return lines
    }

    private func obstaclesToSuspension(of process: RunningProcess) -> [String] {
        if process.suspensions.start != nil {
            let hidden = "its display and buses cannot be seen (pidfd_getfd is refused): it does not answer them"
            return ["suspended: continued by `eidetic app foreground`, a URL or a wake"]
                + application.components.thaws.lines(unread: process.callers.unreadCounts)
                + (process.callers.isHidden ? [hidden] : [])
        }
        guard lifecycle.isInBackground else { return ["not suspended: it is in the foreground"] }
        var lines = process.watchdog.map { [$0.explanation] } ?? []
        let count = process.page.openTasks
        if count > 0 {
            let names =
                process.conversation.taskNames.isEmpty
                ? "" : ": \(process.conversation.taskNames.joined(separator: ", "))"
            lines.append("not suspended: \(count) open background tasks\(names)")
        }
        for wake in lifecycle.openWakes {
            lines.append("not suspended: the \(wake.kind) wake \(wake.id) is not completed")
        }
        for assertion in lifecycle.stay.assertions {
            lines.append("not suspended: it holds the assertion \(assertion)")
        }
        if let end = lifecycle.stay.killDeadline {
            lines.append("its background time is over; killed in \(Self.left(end))")
        } else if let end = lifecycle.backgroundTimeEnd {
            let stay = Int(lifecycle.rules.budgetRefillTime.inSeconds.rounded(.up))
            let state = end > Clock.now ? "ends in \(Self.left(end))" : "is over"
            lines.append("its background time \(state); a stay in the foreground of \(stay) s or more renews it")
        }
        if let time = lifecycle.suspension.retryTime { lines.append("next attempt to freeze it in \(Self.left(time))") }
        if let lastObstacle = application.components.remarks.obstacle { lines.append("last obstacle: \(lastObstacle)") }
        return lines
    }

    private static func left(_ moment: Duration) -> String {
        let tenths = Int(max(.zero, moment - Clock.now).inMilliseconds / 100)
        return "\(tenths / 10).\(tenths % 10) s"
    }

    // MARK: Declarations

    /// The lines about the declarations for `eidetic app why`.
    private var declarationLines: [String] {
        switch application.program.manifest {
        case .none: return []
        case .invalid(let path, let error): return ["declares nothing, as \(path) cannot be used: \(error)"]
        case .found(let manifest):
            let modes = manifest.modes.map(\.rawValue).sorted().joined(separator: ", ")
            var lines = ["declared in \(manifest.path): \(modes.isEmpty ? "no background mode" : modes)"]
            if !manifest.unknownModes.isEmpty {
                lines.append("unknown background modes: \(manifest.unknownModes.joined(separator: ", "))")
            }
            return lines + changeLines(of: manifest.path) + surplusLines(to: manifest)
        }
    }

    /// The line about a desktop entry that was edited or removed while the process runs.
    private func changeLines(of path: String) -> [String] {
        let current = application.context.manifests.manifest(of: identifier)
        guard process != nil, current != application.program.manifest else { return [] }
        return switch current {
        case .found: ["\(path) has changed since: its new declarations hold from the next process on"]
        case .none: ["\(path) is gone, or without its keys: the next process has no declarations"]
        case .invalid(let path, let error): ["the next process has no declarations: \(path) cannot be used: \(error)"]
        }
    }

    /// The modes that the program asks for, and that its desktop entry does not declare.
    private func surplusLines(to manifest: Manifest) -> [String] {
        guard let asked = process?.conversation.declarations, asked.wakeKinds != Set(WakeReason.Kind.allCases) else {
            return []
        }
        let surplus = DeclaredMode.allCases.filter { mode in
            guard !manifest.modes.contains(mode) else { return false }
            return mode.wakeKind.map(asked.wakeKinds.contains) ?? mode.assertion.map(asked.assertions.contains) ?? false
        }
        if surplus.isEmpty { return [] }
        return ["asked for by the program, and not declared: \(surplus.map(\.rawValue).joined(separator: ", "))"]
    }

    // MARK: Wakes

    /// The lines about wakes and notifications for `eidetic app why`.
    private var wakeLines: [String] {
        let now = application.context.clock.now
        var lines = refusedWakeLines
        lines += application.components.wakes.record.schedule.explanation(
            at: now,
            conditions: MachineConditions.current
        )
        if let time = application.components.wakes.record.throttle.nextTime {
            lines.append("a message of a server waits for \(ScheduleText.duration(time - now.steady)) more")
        }
        let (waiting, armed) = (
            application.components.wakes.record.notifications.pending.count,
            application.components.wakes.record.notifications.armed(at: now).count
        )
        if waiting > 0 {
            let delays = application.components.wakes.record.notifications.nextDelays(at: now)
            let next = [delays.steady, delays.wall].compactMap(\.self).min() ?? 0
            lines.append(
                "notifications: \(waiting) wait, \(armed) of them armed, the next one in \(ScheduleText.duration(next))"
            )
        }
        if application.components.wakes.record.wantsLocation {
            lines.append("\(word(for: .location)) when the location changes")
        }
        for name in application.components.sockets.names {
            lines.append("\(word(for: .voip)) for data on the socket \(name)")
        }
        return lines + application.context.busLines
    }

    private func word(for kind: WakeReason.Kind) -> String {
        lifecycle.obstacle(toWakesFor: kind) == nil ? "woken" : "not woken"
    }

    /// The reasons for which what is planned will not come, before its next chance.
    private var refusedWakeLines: [String] {
        var kinds: [LifecycleEffect.Refusal: [WakeReason.Kind]] = [:]
        for kind in WakeReason.Kind.allCases {
            if let refusal = lifecycle.obstacle(toWakesFor: kind) { kinds[refusal, default: []].append(kind) }
        }
        return kinds.sorted { $0.key.explanation < $1.key.explanation }.map { refusal, kinds in
            "no chance of wakes for \(kinds.map { "\($0)" }.joined(separator: ", ")): \(refusal.explanation)"
        }
    }
}
