import EideticLifecycle

/// A step of a test: an event, and the time since the step before.
struct Step: Sendable {
    let event: LifecycleEvent
    let after: Duration

    static func now(_ event: LifecycleEvent) -> Step { Step(event: event, after: .zero) }
    static func after(_ duration: Duration, event: LifecycleEvent = .deadlineReached) -> Step {
        Step(event: event, after: duration)
    }
    static func wake(_ reason: WakeReason) -> Step { now(.wake(reason, allowance: .seconds(60))) }
    static func acknowledge(_ callback: LifecycleCallback) -> Step { now(.callbackAcknowledged(callback)) }
}
