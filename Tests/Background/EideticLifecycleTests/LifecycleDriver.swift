import EideticLifecycle

/// A lifecycle with a clock of its own, which keeps the effects of the last step.
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
