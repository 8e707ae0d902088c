package import EideticLifecycle

/// The process of an application, as far as a transition of the state machine depends on it.
package protocol TransitionGate: AnyObject {
    /// A Boolean value indicating whether the application may begin tasks, and states their number.
    var admitsTasks: Bool { get }

    /// Returns the event for a number of open tasks that has changed; `nil` while the application states none.
    func taskCountChange(since lifecycle: Lifecycle) -> LifecycleEvent?

    /// Admits no further task, and returns the number of open ones.
    func closePage(at now: Duration) -> Int

    /// Admits tasks again, after ``closePage(at:)``.
    func reopenPage()

    /// Returns whether a debugger or a signal holds the process, or has held it at the last limit: it is not killed for
    /// what it could not do in time, and has the whole time once it continues.
    func isSparedAtLimit() -> Bool
}

/// The state machine of an application, and the events that wait for it: one is handled after the other.
package struct Transitions {
    /// The outcome of one event.
    package struct Step: Hashable {
        /// The event; `nil` for what the state machine had to learn before it.
        package let event: LifecycleEvent?
        package let effects: [LifecycleEffect]
    }

    package var lifecycle: Lifecycle
    /// The events that wait, first the one that is next.
    private var waiting: [LifecycleEvent] = []
    /// The number of steps towards the next event.
    private var phase = 0
    private var isUnderWay = false
    /// The event whose effects are being performed.
    package private(set) var current: LifecycleEvent?

    package init(_ lifecycle: Lifecycle) { self.lifecycle = lifecycle }

    /// Adds an event; returns `false` if an effect of another one has caused it, after which it comes.
    package mutating func add(_ event: LifecycleEvent) -> Bool {
        defer { isUnderWay = true }
        waiting.append(event)
        return !isUnderWay
    }

    /// Makes the transition of the next event, after those for a deadline that has passed and for a number of open
    /// tasks that has changed.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - gate: The process; `nil` if none runs.
    /// - Returns: The step, whose effects are performed before the next one; `nil` if no event waits.
    package mutating func next(at now: Duration, with gate: (any TransitionGate)?) -> Step? {
        current = nil
        while let event = waiting.first {
            phase += 1
            switch phase {
            case 1:
                guard event != .deadlineReached, let time = lifecycle.nextDeadline, time <= now else { continue }
                return step(on: .deadlineReached, at: now, with: gate)
            case 2:
                guard let change = gate?.taskCountChange(since: lifecycle) else { continue }
                return step(on: change, at: now, with: gate)
            default:
                phase = 0
                current = waiting.removeFirst()
                return step(on: event, at: now, with: gate)
            }
        }
        isUnderWay = false
        return nil
    }

    /// Makes one transition, unless it would terminate the application while a task is open.
    ///
    /// A task may begin between the reading of the count that found none open and the phase that admits no more. The
    /// phase is therefore written first, and the count read again. If a task is open, the transition is discarded, and
    /// its effects with it; the state machine learns of the task first. Once no task may begin, one reading is enough.
    private mutating func step(
        on event: LifecycleEvent,
        at now: Duration,
        with gate: (any TransitionGate)?
    ) -> Step {
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
            return Step(event: current, effects: effects)
        }
        gate.reopenPage()
        let first = lifecycle.handle(.openTaskCountChanged(count, process: lifecycle.process), at: now)
        if case .openTaskCountChanged = event { return Step(event: current, effects: first) }
        return Step(event: current, effects: first + step(on: event, at: now, with: gate).effects)
    }
}

extension LifecycleEvent {
    /// The event for a number of open tasks that a process states; `nil` if the state machine knows it.
    init?(openTasks: Int, of process: ProcessIdentity, unknownTo lifecycle: Lifecycle) {
        guard process == lifecycle.process, openTasks != lifecycle.stay.openTasks else { return nil }
        self = .openTaskCountChanged(openTasks, process: process)
    }
}

extension LifecycleEffect {
    fileprivate var killsForLimit: Bool { if case .killProcess(let reason) = self { reason.isLimit } else { false } }

    fileprivate var endsTasks: Bool { if case .setTaskPhase(.terminating, _) = self { true } else { false } }
}
