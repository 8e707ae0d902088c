// The transfer process, and the applications that it names.
extension Supervisor {
    /// Passes the wakes of the transfer process to the applications.
    func connectTransfers() {
        context.applicationsKnownToTransfers = { [unowned self] name in
            self.applications.values.filter { $0.isKnown(toTransfersAs: name) }
        }
        context.transfers?.onWake = { [unowned self] in self.wakeApplication(named: $0, session: $1) }
        context.transfers?.onFailure = { [unowned self] reason in
            self.context.log.append("the transfer process cannot be started: \(reason)", for: "eideticd")
        }
        context.transfers?.onStart = { [unowned self] in
            self.context.heldTransferNames = []
            for application in self.applications.values { application.sendTransferHold() }
        }
        // A client that found no socket would start a transfer process of its own.
        context.transfers?.start()
    }

    private func wakeApplication(named name: String, session: String) {
        guard let application = knownApplication(name) ?? application(withProgramNamed: name) else {
            return context.log.append("unknown application, its session \(session) has finished", for: name)
        }
        application.wake(forSession: session)
    }

    /// Returns an application by the name of its program; of several, one that runs.
    private func application(withProgramNamed name: String) -> SupervisedApplication? {
        let known = context.applicationsKnownToTransfers(name).sorted { $0.identifier < $1.identifier }
        return known.first { $0.process != nil } ?? known.first
    }
}
