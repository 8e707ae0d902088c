import EideticLifecycle

/// Makes the transfer process hold events while the application cannot know why it gets them.
package struct TransferHold: ApplicationComponent {
    /// The state that the transfer process knows.
    package private(set) var state = TransferState()

    package init() {}

    package var deadline: Duration? { nil }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        let next = TransferState(isRunning: view.process != nil, isHeld: view.lifecycle.holdsSessionEvents)
        guard change == .settled, next != state else { return [] }
        state = next
        return [.updateTransferHold]
    }
}

/// The state of an application that decides what the transfer process does with its events.
package struct TransferState: Sendable, Hashable {
    package var isRunning = false
    /// A Boolean value indicating whether the application cannot know why it gets events.
    package var isHeld = false

    /// Returns a Boolean value indicating whether the events of a name that several applications share are held: one of
    /// them is held, and no other one runs that is not.
    package static func holdsEvents(ofAll states: [TransferState]) -> Bool {
        states.contains(where: \.isHeld) && states.allSatisfy { $0.isHeld || !$0.isRunning }
    }
}
