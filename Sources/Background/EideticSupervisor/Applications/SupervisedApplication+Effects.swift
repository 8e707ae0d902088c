import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

extension SupervisedApplication {
    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .spawnProcess(let identity): spawn(identity)
        case .deliver(let callback, let deadline): deliver(callback, deadline: deadline)
        case .setTaskPhase(let phase, let deadline): setTaskPhase(phase, deadline: deadline)
        case .expireTasks(let deadline): expireTasks(deadline: deadline)
        case .freezeProcess: beginFreeze()
        case .thawProcess: thaw()
        case .commitSuspension: commitSuspension()
        case .deliverNotices: deliverNotices()
        case .deleteArchive: deleteArchive()
        case .deliverMemoryWarning(let level): send(.memoryWarning(level: UInt8(clamping: level)))
        case .warnAboutLocks: log("thawed, \(lastObstacle ?? "a lock is held"); killed if it happens again within 5 s")
        case .throttleProcess: throttle()
        case .exitProcess: components.plain.isRunning ? requestEnd() : send(.exit)
        case .killProcess(let reason): kill(for: reason)
        case .reportExit(let report): reportExit(report)
        case .refuse(let refusal):
            let use = RefusedUse(refusal: refusal, explanation: explanation(of: refusal))
            lastRefusal = use
            log("refused: \(use.explanation)")
        case .penalizeWake(let reason): log("the \(reason.kind) wake \(reason.id) was not completed in time")
        case .reportWake(let reason, let result): report(reason, result: result)
        case .reportURL(let url, let outcome):
            log("\(url)\(url.source.map { " from \($0)" } ?? ""): \(outcome)")
            answerSender(of: url, outcome: outcome)
        case .cancelTransfers: cancelTransfers()
        // The application saves its archive; the rest concerns an application without a supervisor.
        case .saveArchive, .extendStopTimeout, .releaseSleepInhibitor, .acquireSleepInhibitor: break
        }
    }

    func log(_ text: String) { context.log.append(text, for: identifier) }

    // MARK: Messages

    /// Sends a message now, or after the application's `hello`.
    func send(_ message: SupervisorMessage) {
        guard let process, !components.plain.isRunning else { return }
        guard process.isWelcomed, let connection = process.connection else {
            if process.waitingMessages.count < RunningProcess.maximumWaitingMessages {
                process.waitingMessages.append(message)
            }
            return
        }
        connection.send(WireWriter.encode(message))
    }

    private func deliver(_ callback: LifecycleCallback, deadline: Duration) {
        lastSequence += 1
        process?.pendingCallback = (callback, lastSequence, deadline)
        components.taskNames.expectCallback(until: deadline, at: Clock.now)
        if let process, process.isWelcomed, process.connection != nil {
            send(.lifecycle(callback, sequence: lastSequence, deadline: deadline))
        }
    }

    private func expireTasks(deadline: Duration) {
        send(.expire(deadline: deadline))
        perform(components.taskNames.request(in: view))
    }

    /// Ends the suspension, and tells the application of it.
    func deliverNotices() {
        guard let process, let start = process.suspensionTime else { return }
        let end = Clock.now
        process.suspensionTime = nil
        process.suspendedTime += end - start
        try? process.page.write(UInt64(clamping: process.suspendedTime.inNanoseconds), to: .suspendedTime)
        send(.suspended(from: start, to: end))
    }

    // MARK: The process from outside

    private func setTaskPhase(_ phase: TaskPhase, deadline: Duration?) {
        guard let process else { return }
        process.phase = phase
        process.phaseDeadline = deadline
        do throws(SystemError) {
            try process.page.setPhase(phase, deadline: deadline)
        } catch {
            log("cannot write the shared page: \(error)")
        }
    }

    private func beginFreeze() {
        guard let process else { return }
        let outcome = FreezeAttempt.begin(process.freezer, page: process.page)
        perform(components.suspension.begin(outcome, in: view))
    }

    func resumeFreeze() {
        guard let process else { return }
        let outcome = FreezeAttempt.resume(process.freezer, page: process.page)
        perform(components.suspension.resume(outcome, in: view))
    }

    private func thaw() {
        components.suspension.end()
        process?.callers = []
        process?.freezer.thaw()
        // The application first, where this process has the only free processor: what is left to do is records.
        sched_yield()
    }

    func requestIdleReport() {
        guard let process else { return }
        process.isIdleReportRequested = (try? process.page.requestIdleReport()) != nil
        if process.openTasks == 0 { handle(.openTaskCountChanged(0, process: process.identity)) }
    }

    private func commitSuspension() {
        guard let process else { return }
        process.suspensionTime = Clock.now
        process.suspensionCount += 1
        try? process.page.write(process.suspensionCount, to: .suspensionCount)
        components.suspension.watchTerminal(in: view)
        watchCallers()
        for stray in (process.freezer as? GroupFreezer)?.takeRegained() ?? [] {
            log("process \(stray) had left its control group, and was taken back")
        }
    }

    func kill(for reason: KillReason) {
        guard let process else { return }
        let limit = context.configuration.quitGracePeriod
        if reason == .terminatedWhileSuspended, components.plain.beginEnd(at: Clock.now, limit: limit) {
            return requestEnd()
        }
        if components.plain.isRunning, reason.isLimit { return killPlain(process) }
        let report = KillReport(reason: reason, openTasks: tasksForReport(of: process)).text
        process.killReport = report
        if reason.isToldAtNextLaunch { process.exitReport = report }
        components.adoption.record?.killReport = report
        log(report)
        process.callers = []
        process.freezer.kill()
    }

    /// Asks a process that knows no callbacks to end.
    private func requestEnd() {
        guard let process else { return }
        log("SIGTERM is sent to process \(process.handle.identifier)")
        process.handle.signal(SIGTERM)
        process.suspensionTime = nil
        process.freezer.thaw()
    }

    private func killPlain(_ process: RunningProcess) {
        let report = "killed, as it has not ended after SIGTERM"
        process.killReport = report
        log(report)
        process.freezer.kill()
    }

    /// The names of the open tasks, or their number if the application has not told them.
    private func tasksForReport(of process: RunningProcess) -> [String] {
        let count = process.openTasks
        if count == 0 || !process.taskNames.isEmpty { return count == 0 ? [] : process.taskNames }
        return ["\(count) open task\(count == 1 ? "" : "s") without a known name"]
    }

    /// The directory of the application's saved state.
    var archiveDirectory: String { "\(context.configuration.stateDirectory)/\(identifier)" }

    private func deleteArchive() {
        unlink(context.directory.snapshotPath(of: identifier))
        let path = "\(archiveDirectory)/state"
        if unlink(path) != 0, errno != ENOENT {
            log("cannot delete \(path): \(SystemError.message(for: errno))")
        }
    }

    private func reportExit(_ report: ExitReport) {
        let ended = components.leftovers.processes.last { $0.identity == report.process } ?? process
        if let ended { saveExitReport(of: ended) }
        var text = ended?.reasonOfEnd ?? Self.text(of: ended?.end ?? .unknown)
        if report.wasLaunching { text += ", during the launch" }
        if report.killReason == nil, report.openTasks > 0 { text += ", with \(report.openTasks) open tasks" }
        if let ended, ended.suspendedTime > .zero {
            text += ", suspended \(ended.suspensionCount) times for \(Int(ended.suspendedTime.inMilliseconds)) ms"
        }
        reportEnd(text)
    }

    /// Saves the reason for which a process was ended, for the next launch of the application.
    func saveExitReport(of ended: RunningProcess) {
        guard let report = ended.exitReport else { return }
        let path = "\(archiveDirectory)/exit-report"
        do throws(SystemError) {
            try FileSystem().makeDirectories(archiveDirectory)
            try context.directory.replace(path, with: Array("\(report)\n".utf8))
        } catch {
            log("cannot save the report of its end: \(error)")
        }
    }

    func reportEnd(_ text: String) {
        lastExit = text
        log("ended: \(text)")
    }

    static func text(of end: ProcessEnd) -> String {
        switch end {
        case .exited(let status): "exit status \(status)"
        case .signalled(let number): "signal \(number)"
        case .unknown: "status unknown, as this eideticd has not started it"
        }
    }

    // MARK: A process that cannot be frozen

    private func throttle() {
        guard let process else { return }
        let processes = process.freezer.processes
        let stuck = process.uninterruptible.map { "\($0)" }.joined(separator: ", ")
        var place = stuck.isEmpty ? "" : "; waiting in the kernel: \(stuck)"
        if HeldLocks.violation(of: processes) == .tooManyFiles { place += "; too many open files to look for locks" }
        if !processes.contains(process.handle.identifier) { place += "; it has left its control group" }
        let means = process.slowDown()
        lastObstacle = "it could not be frozen in \(Int(lifecycle.rules.freezeLimit.inMilliseconds)) ms\(place)"
        log("unfreezable: \(lastObstacle ?? ""); \(means), next attempt later")
    }
}

extension LifecycleEffect.Refusal {
    /// The reason in words.
    package var explanation: String {
        switch self {
        case .forceQuit: "the user ended the application, and only the user starts it again"
        case .undeclaredMode: "the application does not declare this kind of background work"
        case .allowanceExhausted: "the time for background work is used up"
        case .repeatedLaunchCrashes: "the application crashed during its last launches"
        case .repeatedWakeCrashes:
            "the application ended in the middle of its last wakes of this kind; it is woken again when the user has used it, "
                + "after a day, or with another version of its program"
        case .terminating: "the application is terminating"
        case .alreadyRunning: "another process of the application is running"
        case .processEnded: "the process ended before it was asked"
        case .tooManyRequests: "too many requests wait"
        case .notConnected: "its process has not connected in time, and runs without supervision"
        }
    }
}

extension [LifecycleEffect] {
    /// The memory priority that the process has after the effects; `nil` if they do not change it.
    var memoryPriority: Int? {
        compactMap { effect in
            switch effect {
            case .setTaskPhase(.foreground, _): MemoryPriorities.foreground
            case .setTaskPhase(.background, _): MemoryPriorities.background
            case .commitSuspension: MemoryPriorities.suspended
            default: nil
            }
        }.last
    }
}
