import EideticLifecycle

/// The suspension of an application: freeze, verify, and report to the state machine, which commits or thaws.
package struct Suspension: ApplicationComponent {
    /// The pauses between looks at a freeze that takes longer than a moment.
    private static let firstPause: Duration = .milliseconds(1)
    private static let longestPause: Duration = .milliseconds(100)

    private let terminalInterval: Duration
    /// The time of the next look at a process that is being frozen, and the pause before it.
    private var freezeCheck: Duration?
    private var pause = firstPause
    /// The time of the next look at the terminal of a suspended job.
    private var terminalCheck: Duration?

    /// Creates the component, with the time between two looks at the terminal of a suspended job.
    package init(terminalInterval: Duration) { self.terminalInterval = terminalInterval }

    package var deadline: Duration? { [freezeCheck, terminalCheck].compactMap(\.self).min() }

    /// Records the outcome of a freeze that was just begun, or of another look at it.
    package mutating func record(
        _ outcome: FreezeAttempt.Outcome,
        isNew: Bool,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        // Slowly, so that a busy machine adds little to the time that the kernel needs.
        pause = isNew ? Self.firstPause : min(pause * 9 / 8, Self.longestPause)
        freezeCheck = nil
        guard let identity = view.process?.identity else { return [] }
        func frozen(openTasks: Int, blocksOthers: Bool = false) -> ApplicationEffect {
            .handle(.processFrozen(identity, openTasks: openTasks, blocksOthers: blocksOthers))
        }
        switch outcome {
        case .verified: return [frozen(openTasks: 0)]
        case .openTasks(let count): return [frozen(openTasks: count)]
        case .lock(let violation):
            return [.recordObstacle(violation.explanation), frozen(openTasks: 0, blocksOthers: true)]
        case .pending:
            freezeCheck = view.now + pause
            return []
        }
    }

    /// Looks at the terminal of a suspended background job from time to time: a shell's `fg` continues no frozen
    /// process, and the application cannot see it.
    package mutating func watchTerminal(in view: ApplicationView) {
        guard view.process?.isForegroundJob() == false else { return }
        terminalCheck = view.now + terminalInterval
    }

    /// Ends all looks, as the process continues.
    package mutating func end() {
        freezeCheck = nil
        terminalCheck = nil
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        switch change {
        case .processChanged:
            end()
            return []
        case .settled: return requestIdleReport(in: view)
        case .deadline:
            var effects: [ApplicationEffect] = []
            if let time = freezeCheck, time <= view.now {
                freezeCheck = nil
                if view.process != nil, view.lifecycle.reachedState == .suspending { effects.append(.resumeFreeze) }
            }
            if let time = terminalCheck, time <= view.now {
                terminalCheck = nil
                effects += continueForegroundJob(in: view)
            }
            return effects
        }
    }

    private mutating func continueForegroundJob(in view: ApplicationView) -> [ApplicationEffect] {
        guard let process = view.process, process.isSuspended else { return [] }
        guard process.isForegroundJob() == true else {
            watchTerminal(in: view)
            return []
        }
        return [.log("in the foreground of its terminal"), .handle(.enterForeground)]
    }

    /// Asks an application in the background with open tasks for a report when the last one has ended.
    ///
    /// One request is under way at a time, so an application that opens and ends tasks all the time sends no more
    /// reports than this supervisor reads.
    private func requestIdleReport(in view: ApplicationView) -> [ApplicationEffect] {
        guard view.lifecycle.reachedState == .background, view.lifecycle.stay.openTasks > 0, let process = view.process,
            process.isWelcomed, !process.isIdleReportRequested
        else { return [] }
        return [.requestIdleReport]
    }
}

extension HeldLocks.Violation {
    /// The violation in words.
    package var explanation: String {
        "process \(process) holds a lock on \(path)" + (isAwaited ? ", for which another process waits" : "")
    }
}
