import EideticCore

/// The transfer process, and the applications that it knows by their identifiers and the names of their programs.
final class ApplicationTransfers {
    /// The transfer process; `nil` if this supervisor has none.
    let link: TransferProcessLink?
    /// A function that returns the applications that the transfer process knows by a name.
    var applications: (String) -> [SupervisedApplication] = { _ in [] }
    /// The names whose events the transfer process holds.
    private var heldNames: Set<String> = []

    init(_ link: TransferProcessLink?) { self.link = link }

    /// Forgets what another process knew.
    func reset() { heldNames = [] }

    /// Tells the process whether it holds the events of an application, if that has changed.
    func updateHold(of program: ApplicationProgram) {
        guard let link else { return }
        for name in program.transferNames {
            let isHeld = TransferState.holdsEvents(ofAll: applications(name).map(\.components.transfers.state))
            guard isHeld != heldNames.contains(name) else { continue }
            if isHeld { heldNames.insert(name) } else { heldNames.remove(name) }
            link.send(.hold(application: name, isHeld: isHeld))
        }
    }

    /// Makes the process announce a session again later, whose wake has failed.
    func reportFailure(of session: String, to program: ApplicationProgram) {
        for name in program.transferNames { link?.send(.wakeFailed(application: name, session: session)) }
    }

    /// Cancels the transfers of an application that the user has ended; not those of a name that others share.
    func cancelAll(of program: ApplicationProgram) {
        for name in program.transferNames where name == program.identifier || applications(name).count == 1 {
            link?.send(.forceQuit(application: name))
        }
    }
}
