import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

// Wakes that are planned, and their record.
extension SupervisedApplication {
    /// Performs what is due by the schedule.
    func performDueWakes(at now: ScheduleTime) {
        perform(components.wakes.startDue(in: view, at: now))
        context.desktop?.showDueNotifications(of: self, at: now)
        saveWakes()
    }

    /// Wakes the application, or launches it.
    func start(_ kind: WakeReason.Kind, session: String = "", payload: [UInt8] = []) {
        let now = context.clock.now
        perform(components.wakes.start(kind, session: session, payload: payload, in: view, at: now))
    }

    func forgiveWakeCrashes() { perform(components.wakes.forgiveCrashes(in: view)) }

    /// Watches the reports that the conditions of processing that runs may have changed, or ends that.
    func watchConditions(_ isNeeded: Bool) {
        guard isNeeded else { return conditionReports = nil }
        conditionReports = ConditionReports(poller: context.poller) { [weak self] in
            guard let self else { return }
            perform(components.wakes.checkConditions(in: view))
        }
    }

    // MARK: Sockets

    func keepSocket(_ packet: PacketSocket.Packet, name: String) {
        guard declares(.voip, number: 0), components.sockets.hasRoom(for: name) else { return }
        let numbers = packet.takeDescriptors()
        for number in numbers.dropFirst() { close(number) }
        guard let number = numbers.first else { return log("the socket \(name) came without a descriptor") }
        let pause = context.configuration.unreadDataPause
        let socket = KeptSocket(adopting: number, poller: context.poller, pause: pause) { [unowned self] in
            perform(components.sockets.receiveData(on: name, at: Clock.now))
        }
        components.sockets.keep(socket, named: name)
    }

    /// Passes the sockets of an earlier process to one that was launched.
    func passSockets(to process: RunningProcess) {
        guard [.launchingInBackground, .launching].contains(lifecycle.reachedState) else { return }
        for (name, socket) in components.sockets.sockets {
            process.connection?.send(
                WireWriter.encode(SupervisorMessage.wakes(.socket(name))),
                attachment: Connection.Attachment(descriptor: socket.descriptor.rawValue, owner: socket)
            )
        }
    }

    // MARK: Records

    private var wakeRecordPath: String { "\(archiveDirectory)/wakes" }

    /// Reads what an earlier supervisor has planned; nothing that cannot be read.
    func restoreWakes() {
        guard let bytes = context.directory.contents(of: wakeRecordPath) else { return }
        do throws(WireError) {
            var record = try WireReader.decode(WakeRecord.self, from: bytes)
            wakeFile.restore(record)
            program = program ?? record.program
            lifecycle.wasForceQuit = lifecycle.wasForceQuit || record.wasForceQuit
            restoreWakeCrashes(record.crashes.counts)
            record.schedule.restart(at: context.clock.now) { _ in false }
            components.wakes.record = record
        } catch {
            log("its schedule is damaged: \(error)")
        }
    }

    /// Adds the counts of a record to those of another one.
    func restoreWakeCrashes(_ counts: [WakeReason.Kind: UInt32]) {
        lifecycle.wakeCrashCounts.merge(counts.mapValues { Int($0) }) { max($0, $1) }
    }

    /// Writes the schedule if it has changed and says anything.
    func saveWakes() {
        components.wakes.record.program = program
        components.wakes.record.wasForceQuit = lifecycle.wasForceQuit
        let record = components.wakes.record
        guard !wakeFile.isNew || !record.isEmpty else { return }
        let archive = archiveDirectory
        do throws(SystemError) {
            try wakeFile.save(record, at: wakeRecordPath, in: context.directory) { () throws(SystemError) in
                try FileSystem().makeDirectories(archive)
            }
        } catch {
            Log.write(.error, category: .background, message: "cannot save the schedule of \(identifier): \(error)")
        }
    }
}
