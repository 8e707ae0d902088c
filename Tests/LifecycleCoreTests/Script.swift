import LifecycleCore

/// One step of a test: what happens, and how long after the step before.
struct Step: Sendable {
    let event: LifecycleEvent
    let after: Duration

    static func now(_ event: LifecycleEvent) -> Step { Step(event: event, after: .zero) }
    static func after(_ duration: Duration, event: LifecycleEvent = .deadlineReached) -> Step {
        Step(event: event, after: duration)
    }
    static func acknowledge(_ callback: LifecycleCallback) -> Step { now(.callbackAcknowledged(callback)) }
}

/// A lifecycle with a clock of its own, which keeps what the last step led to.
struct LifecycleDriver {
    var lifecycle: Lifecycle
    var now: Duration = .seconds(100)
    var effects: [LifecycleEffect] = []

    init(rules: LifecycleRules = LifecycleRules()) { lifecycle = Lifecycle(rules: rules) }

    mutating func run(_ steps: [Step]) {
        for step in steps {
            now += step.after
            effects = lifecycle.handle(step.event, at: now)
        }
    }
}

/// Ways to the states from which rows of the table start; all take no time.
enum Path {
    static let launching: [Step] = [.now(.launch(.user))]
    static let active: [Step] = launching + [.acknowledge(.launch(.user)), .acknowledge(.didBecomeActive)]
    static let inactive: [Step] = active + [.now(.deactivate), .acknowledge(.willResignActive)]
    static let enteringBackground: [Step] = active + [.now(.enterBackground), .acknowledge(.willResignActive)]
    static let background: [Step] =
        active + [.now(.openTaskCountChanged(1)), .now(.enterBackground)]
        + [.acknowledge(.willResignActive), .acknowledge(.didEnterBackground)]
    static let suspending: [Step] = background + [.now(.openTaskCountChanged(0)), .after(.milliseconds(250))]
    static let suspended: [Step] = suspending + [.now(.processFrozen(openTasks: 0, blocksOthers: false))]
    static let expiring: [Step] = background + [.after(.seconds(600))]
}
