import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

// Wakes that are planned or asked for, and their record.
extension SupervisedApplication {
    /// Obeys a command of the application, which is not trusted.
    func receive(_ command: WakeCommand, with packet: PacketSocket.Packet) {
        switch command {
        case .keepSocket(let name): keepSocket(packet, name: name)
        case .releaseSocket(let name): components.sockets.release(name)
        case .beginContinued, .reportContinued, .endContinued: perform(components.work.obey(command, in: view))
        default: perform(components.wakes.obey(command, in: view, at: context.clock.now))
        }
        saveWakes()
    }

    // MARK: Sockets

    private func keepSocket(_ packet: PacketSocket.Packet, name: String) {
        if let refusal = view.refusal(of: .voip) { return perform(refusal) }
        let poller = context.poller
        let pause = context.configuration.unreadDataPause
        let effects = components.sockets.keep(packet, named: name, pause: pause, with: poller) { [unowned self] in
            perform(components.sockets.receiveData(on: name, at: Clock.now))
        }
        perform(effects)
    }

    // MARK: Records

    /// Reads what an earlier supervisor has planned; nothing that cannot be read.
    func restoreWakes() {
        do throws(WireError) {
            guard var record = try files.readWakes() else { return }
            program.installed = program.installed ?? record.program
            lifecycle.history.restore(wasForceQuit: record.wasForceQuit, wakeCrashCounts: record.crashes.counts)
            record.schedule.restart(at: context.clock.now) { _ in false }
            components.wakes.record = record
        } catch {
            log("its schedule is damaged: \(error)")
        }
    }

    /// Writes the schedule if it has changed.
    func saveWakes() {
        components.wakes.record.program = program.installed
        components.wakes.record.wasForceQuit = lifecycle.history.wasForceQuit
        files.save(components.wakes.record)
    }
}
