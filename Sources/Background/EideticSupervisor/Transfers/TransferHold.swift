import EideticLifecycle

/// Makes the transfer process hold events while the application cannot know why it gets them.
package struct TransferHold: ApplicationComponent {
    /// The state that the transfer process knows.
    package private(set) var state = TransferState()

    package init() {}

    package var deadline: Duration? { nil }

    package mutating func handle(
        _ change: ApplicationChange,
        in view: ApplicationView,
        at now: Duration
    ) -> [ApplicationEffect] {
        let next = TransferState(isRunning: view.process != nil, isHeld: view.lifecycle.holdsSessionEvents)
        guard change == .settled, next != state else { return [] }
        state = next
        return [.updateTransferHold]
    }
}
