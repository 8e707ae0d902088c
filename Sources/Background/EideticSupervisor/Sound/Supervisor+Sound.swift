// The connection to the sound server, which exists while somebody needs it.
extension Supervisor {
    /// Connects to the sound server, or ends the connection.
    func updateSound() {
        let isNeeded = applications.values.contains { application in
            application.components.sound.isClaimed && application.components.sound.needsServer(in: application.view)
        }
        context.sound.update(isNeeded: isNeeded, at: Clock.now)
    }

    /// Passes a change at the sound server to the applications.
    func connectSound() {
        context.sound.didChange = { [unowned self] in
            for application in Array(self.applications.values) { application.tell(.settled) }
        }
    }
}
