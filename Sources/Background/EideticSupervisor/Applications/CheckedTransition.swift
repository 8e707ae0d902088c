package import EideticLifecycle

/// The process of an application, as far as a transition of the state machine depends on it.
package protocol TransitionGate: AnyObject {
    /// A Boolean value indicating whether the application may begin tasks, and states their number.
    var admitsTasks: Bool { get }

    /// Admits no further task, and returns the number of open ones.
    func closePage(at now: Duration) -> Int

    /// Admits tasks again, after ``closePage(at:)``.
    func reopenPage()

    /// Returns whether a debugger or a signal holds the process, or has held it at the last limit: it is not killed for
    /// what it could not do in time, and has the whole time once it continues.
    func isSparedAtLimit() -> Bool
}

/// One transition of the state machine, unless it would terminate the application while a task is open.
///
/// A task may begin between the reading of the count that found none open and the phase that admits no more. The phase
/// is therefore written first, and the count read again. If a task is open, the transition is discarded, and its
/// effects with it; the state machine learns of the task first. Once no task may begin, one reading is enough.
package enum CheckedTransition {
    /// Makes the transition; returns its effects.
    package static func make(
        _ lifecycle: inout Lifecycle,
        on event: LifecycleEvent,
        at now: Duration,
        with gate: (any TransitionGate)?
    ) -> [LifecycleEffect] {
        var next = lifecycle
        var effects = next.handle(event, at: now)
        if effects.contains(where: \.killsForLimit), gate?.isSparedAtLimit() == true {
            lifecycle.restartPassedLimits(at: now)
            next = lifecycle
            effects = next.handle(event, at: now)
        }
        guard effects.contains(where: \.endsTasks), let gate, gate.admitsTasks,
            case let count = gate.closePage(at: now), count > 0
        else {
            lifecycle = next
            return effects
        }
        gate.reopenPage()
        let open = LifecycleEvent.openTaskCountChanged(count, process: lifecycle.process)
        let first = lifecycle.handle(open, at: now)
        if case .openTaskCountChanged = event { return first }
        return first + make(&lifecycle, on: event, at: now, with: gate)
    }
}

extension LifecycleEffect {
    fileprivate var killsForLimit: Bool { if case .killProcess(let reason) = self { reason.isLimit } else { false } }

    fileprivate var endsTasks: Bool { if case .setTaskPhase(.terminating, _) = self { true } else { false } }
}
