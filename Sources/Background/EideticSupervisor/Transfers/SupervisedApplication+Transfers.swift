import EideticCore
import EideticLifecycle

// The events of background sessions, which the transfer process keeps until the application has handled them.
extension SupervisedApplication {
    /// Returns a Boolean value indicating whether the transfer process means this application by a name: its
    /// identifier, or the name of its program.
    func isKnown(toTransfersAs name: String) -> Bool { program.transferNames.contains(name) }

    /// Wakes the application for the events of a session, or launches it.
    func wake(forSession session: String) {
        log("the transfers of the session \(session) have ended")
        let wake = WakeReason(.session, id: .random(in: 1 ... .max), session: session)
        request(.wake(wake, allowance: lifecycle.rules.wakeLimit))
    }

    /// Records the result of a wake; one that its process did not live to complete has failed for the transfer process.
    func report(_ wake: WakeReason, result: WakeResult) {
        log("\(wake.kind) wake \(wake.id): \(result)")
        components.wakes.complete(wake, result: result, at: context.clock.now)
        let hasEnded = [.notRunning, .launching, .launchingInBackground].contains(lifecycle.reachedState)
        if result == .failed, hasEnded { reportFailure(of: wake) }
    }

    /// Records a refused wake, unless it would be refused until the application is used again.
    func reportRefusal(of event: LifecycleEvent, because refusal: LifecycleEffect.Refusal) {
        if case .openURL(let url) = event { answerSender(of: url, outcome: .refused(refusal)) }
        guard case .wake(let wake, _) = event else { return }
        components.wakes.refuse(wake, because: refusal, at: context.clock.now)
        guard refusal != .undeclaredMode, refusal != .forceQuit else { return }
        reportFailure(of: wake)
    }

    /// Makes the transfer process announce a session again later.
    private func reportFailure(of wake: WakeReason) {
        guard wake.kind == .session else { return }
        for name in program.transferNames {
            context.transfers?.send(.wakeFailed(application: name, session: wake.session))
        }
    }

    /// Cancels the transfers of an application that the user has ended; not those of a name that others share.
    func cancelTransfers() {
        for name in program.transferNames
        where name == identifier || context.applicationsKnownToTransfers(name).count == 1 {
            context.transfers?.send(.forceQuit(application: name))
        }
    }

    func sendTransferHold() { for name in program.transferNames { context.updateTransferHold(of: name) } }
}

extension SupervisorContext {
    /// Tells the transfer process whether it holds the events of a name, if that has changed.
    fileprivate func updateTransferHold(of name: String) {
        guard let transfers else { return }
        let isHeld = TransferState.holdsEvents(
            ofAll: applicationsKnownToTransfers(name).map(\.components.transfers.state)
        )
        guard isHeld != heldTransferNames.contains(name) else { return }
        if isHeld { heldTransferNames.insert(name) } else { heldTransferNames.remove(name) }
        transfers.send(.hold(application: name, isHeld: isHeld))
    }
}
