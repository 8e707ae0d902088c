import EideticLifecycle

// The transfer process, and the applications that it names.
extension Supervisor {
    /// Passes the wakes of the transfer process to the applications.
    func connectTransfers() {
        let transfers = context.transfers
        transfers.applications = { [unowned self] name in
            self.applications.values.filter { $0.program.transferNames.contains(name) }
        }
        transfers.link?.onWake = { [unowned self] in self.wakeApplication(named: $0, session: $1) }
        transfers.link?.onFailure = { [unowned self] reason in
            self.context.log.append("the transfer process cannot be started: \(reason)", for: "eideticd")
        }
        transfers.link?.onStart = { [unowned self, unowned transfers] in
            transfers.reset()
            for application in self.applications.values { transfers.updateHold(of: application.program) }
        }
        // A client that found no socket would start a transfer process of its own.
        transfers.link?.start()
    }

    private func wakeApplication(named name: String, session: String) {
        guard let application = knownApplication(name) ?? application(withProgramNamed: name) else {
            return context.log.append("unknown application, its session \(session) has finished", for: name)
        }
        application.log("the transfers of the session \(session) have ended")
        let wake = WakeReason(.session, id: .random(in: 1 ... .max), session: session)
        application.request(.wake(wake, allowance: application.lifecycle.rules.wakeLimit))
    }

    /// Returns an application by the name of its program; of several, one that runs.
    private func application(withProgramNamed name: String) -> SupervisedApplication? {
        let known = context.transfers.applications(name).sorted { $0.identifier < $1.identifier }
        return known.first { $0.process != nil } ?? known.first
    }
}
