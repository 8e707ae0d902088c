import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// Freeze, verify, and report to the state machine, which commits or thaws.
extension SupervisedApplication {
    /// The pauses between looks at a freeze that takes longer than a moment.
    private static let firstPause: Duration = .milliseconds(1)
    private static let longestPause: Duration = .milliseconds(100)

    /// Asks an application in the background with open tasks for a report when the last one has ended.
    ///
    /// One request is under way at a time, so an application that opens and ends tasks all the time sends no more
    /// reports than this supervisor reads.
    func requestIdleReport() {
        guard lifecycle.reachedState == .background, lifecycle.openTasks > 0 else { return }
        guard let process, process.isWelcomed, !process.isIdleReportRequested else { return }
        process.isIdleReportRequested = (try? process.page.requestIdleReport()) != nil
        if process.openTasks == 0 { handle(.openTaskCountChanged(0, process: process.identity)) }
    }

    func beginFreeze() {
        guard let process else { return }
        report(FreezeAttempt.begin(process.freezer, page: process.page), of: process, pause: Self.firstPause)
    }

    func continueFreeze() {
        guard let process, let check = freezeCheck, lifecycle.reachedState == .suspending else {
            return freezeCheck = nil
        }
        // Slowly, so that a busy machine adds little to the time that the kernel needs.
        let pause = min(check.pause * 9 / 8, Self.longestPause)
        report(FreezeAttempt.resume(process.freezer, page: process.page), of: process, pause: pause)
    }

    private func report(_ outcome: FreezeAttempt.Outcome, of process: RunningProcess, pause: Duration) {
        freezeCheck = nil
        switch outcome {
        case .verified: handle(.processFrozen(process.identity, openTasks: 0, blocksOthers: false))
        case .openTasks(let count): handle(.processFrozen(process.identity, openTasks: count, blocksOthers: false))
        case .lock(let violation):
            lastObstacle = violation.explanation
            handle(.processFrozen(process.identity, openTasks: 0, blocksOthers: true))
        case .pending: freezeCheck = (Clock.now + pause, pause)
        }
    }

    /// Looks at the terminal of a suspended background job from time to time: a shell's `fg` continues no frozen
    /// process, and the application cannot see it.
    func watchTerminal() {
        guard let process, ProcessStatus(of: process.handle.identifier)?.isForegroundJob == false else { return }
        terminalCheck = Clock.now + context.configuration.terminalInterval
    }

    func continueForegroundJob() {
        terminalCheck = nil
        guard let process, process.suspensionTime != nil else { return }
        guard ProcessStatus(of: process.handle.identifier)?.isForegroundJob == true else { return watchTerminal() }
        log("in the foreground of its terminal")
        handle(.enterForeground)
    }

    func thaw() {
        (freezeCheck, terminalCheck) = (nil, nil)
        process?.freezer.thaw()
        // The application first, where this process has the only free processor: what is left to do is records.
        sched_yield()
    }
}

extension HeldLocks.Violation {
    /// The violation in words.
    package var explanation: String {
        "process \(process) holds a lock on \(path)" + (isAwaited ? ", for which another process waits" : "")
    }
}
