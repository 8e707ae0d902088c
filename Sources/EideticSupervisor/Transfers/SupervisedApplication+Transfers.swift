import EideticWire
import Glibc
import LifecycleCore

// The events of background sessions, which the transfer process keeps until the application has handled them.
extension SupervisedApplication {
    /// Returns a Boolean value indicating whether the transfer process means this application by a name: its
    /// identifier, or the name of its program.
    func isKnown(toTransfersAs name: String) -> Bool { transferNames.contains(name) }

    private var transferNames: [String] {
        let file = program?.executable.split(separator: "/").last.map { TransferLocations.applicationName(of: $0) }
        return [identifier] + (file.map { [$0] } ?? [])
    }

    /// Wakes the application for the events of a session, or launches it.
    func wake(forSession session: String) {
        log("the transfers of the session \(session) have ended")
        let wake = WakeReason(.session, id: .random(in: 1 ... .max), session: session)
        if !handleWhenConnected(.wake(wake, allowance: lifecycle.rules.wakeLimit)) {
            log("too many requests wait: not woken for the session \(session)")
        }
    }

    /// Cancels the transfers of an application that the user has ended.
    func cancelTransfers() {
        for name in transferNames { context.transfers?.send(.forceQuit(application: name)) }
    }

    /// Makes the transfer process hold events while the application cannot know why it gets them.
    func updateTransferHold() {
        guard lifecycle.holdsSessionEvents != holdsTransferEvents else { return }
        holdsTransferEvents.toggle()
        sendTransferHold()
    }

    func sendTransferHold() {
        for name in transferNames { context.transfers?.send(.hold(application: name, isHeld: holdsTransferEvents)) }
    }
}
