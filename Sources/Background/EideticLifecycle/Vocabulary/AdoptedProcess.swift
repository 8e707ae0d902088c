/// A running process that a new supervisor takes over.
package struct AdoptedProcess: Sendable, Hashable {
    package enum State: UInt8, Sendable, Hashable, CaseIterable { case active, inactive, background, suspended }

    package var state: State
    package var openTasks: Int
    /// The wakes that the process has received and not completed.
    package var wakes: [WakeReason]
    /// The continuous assertions that the process holds.
    package var assertions: Set<ContinuousAssertion>

    package init(
        _ state: State,
        openTasks: Int = 0,
        wakes: [WakeReason] = [],
        assertions: Set<ContinuousAssertion> = []
    ) {
        self.state = state
        self.openTasks = openTasks
        self.wakes = wakes
        self.assertions = assertions
    }
}
