import EideticCore
import EideticLifecycle
import EideticSupervision

extension SupervisedApplication {
    /// Makes a transition, unless it would terminate the application while a task is open.
    ///
    /// A task may begin between the reading of the count that found none open and the phase that admits no more. The
    /// phase is therefore written first, and the count read again. If a task is open, the transition is discarded, and
    /// its effects with it; the state machine learns of the task first. Once no task may begin, one reading is enough.
    func transition(on event: LifecycleEvent, at now: Duration) -> [LifecycleEffect] {
        var next = lifecycle
        var effects = next.handle(event, at: now)
        if effects.contains(where: \.killsForLimit), sparesHeldProcess() {
            lifecycle.restartPassedLimits(at: now)
            next = lifecycle
            effects = next.handle(event, at: now)
        }
        guard effects.contains(where: \.endsTasks), let process, process.isWelcomed, process.phase.admitsTasks,
            case let count = closePage(of: process, at: now), count > 0
        else {
            lifecycle = next
            return effects
        }
        openPage(of: process)
        let open = LifecycleEvent.openTaskCountChanged(count, process: lifecycle.process)
        let first = lifecycle.handle(open, at: now)
        if case .openTaskCountChanged = event { return first }
        return first + transition(on: event, at: now)
    }

    /// Returns whether a debugger or a signal holds the process, or has held it at the last limit: it is not killed for
    /// what it could not do in time, and has the whole time once it continues.
    private func sparesHeldProcess() -> Bool {
        guard let process else { return false }
        let holder = process.holder
        defer { process.isSpared = holder != nil }
        if let holder, !process.isSpared { log("process \(process.handle.identifier) is \(holder), and not killed") }
        return holder != nil || process.isSpared
    }

    /// Admits no further task, and returns the number of open ones.
    private func closePage(of process: RunningProcess, at now: Duration) -> Int {
        try? process.page.setPhase(.terminating, deadline: now)
        return process.openTasks
    }

    private func openPage(of process: RunningProcess) {
        try? process.page.setPhase(process.phase, deadline: process.phaseDeadline)
    }
}

extension LifecycleEffect {
    fileprivate var killsForLimit: Bool { if case .killProcess(let reason) = self { reason.isLimit } else { false } }

    fileprivate var endsTasks: Bool { if case .setTaskPhase(.terminating, _) = self { true } else { false } }
}
