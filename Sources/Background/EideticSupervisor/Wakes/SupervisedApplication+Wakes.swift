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

    // MARK: Requests from outside

    /// Delivers a silent message, now or when the throttle admits it.
    ///
    /// - Returns: The reason for a later delivery; `nil` if it is under way.
    func deliverMessage(_ payload: PushPayload) throws(RefusedRequest) -> String? {
        if !lifecycle.rules.declaredWakeKinds.contains(.push) {
            throw refuse(.undeclaredMode, because: program.manifest.explanation(ofUndeclared: .remoteNotification))
        }
        forgiveWakeCrashes()
        switch components.wakes.deliver(payload, in: view, at: context.clock.now) {
        case .refused(let refusal): throw refuse(refusal, because: refusal.explanation)
        case .delayed(let text):
            log(text)
            saveWakes()
            return text
        case .begun(let effects):
            perform(effects)
            saveWakes()
            return nil
        }
    }

    /// Makes happen what otherwise comes at its own time.
    func simulate(_ simulation: ControlRequest.Simulation) throws(RefusedRequest) {
        let now = context.clock.now
        switch simulation {
        case .fetch: perform(try components.wakes.beginFetch(in: view, at: now))
        case .task(let identifier): perform(try components.wakes.beginTask(identifier, in: view, at: now))
        case .expire:
            guard lifecycle.isInBackground, process != nil else {
                throw RefusedRequest(reason: "it is not in the background")
            }
            handle(.backgroundTimeRevoked)
        case .memory(let level):
            guard process != nil else { throw RefusedRequest(reason: "it is not running") }
            guard (1...3).contains(level) else { throw RefusedRequest(reason: "the level is 1, 2 or 3") }
            handle(.memoryWarning(level: Int(level)))
        case .location(let latitude, let longitude, let accuracy):
            let location = Location(latitude: latitude, longitude: longitude, accuracy: accuracy)
            guard location.isValid else {
                throw RefusedRequest(reason: "latitude, longitude or accuracy is out of range")
            }
            return try deliver(location)
        }
        saveWakes()
    }

    /// Wakes the application for a location.
    func deliver(_ location: Location) throws(RefusedRequest) {
        guard components.wakes.record.wantsLocation else {
            throw RefusedRequest(reason: "the application has not asked for updates of the location")
        }
        forgiveWakeCrashes()
        if let refusal = lifecycle.obstacle(toWakesFor: .location) {
            throw RefusedRequest(reason: refusal.explanation)
        }
        start(.location, payload: location.payload)
    }

    // MARK: Sockets

    private func keepSocket(_ packet: PacketSocket.Packet, name: String) {
        if let refusal = view.refusal(of: .voip) { return perform(refusal) }
        guard components.sockets.hasRoom(for: name) else { return }
        let numbers = packet.takeDescriptors()
        for number in numbers.dropFirst() { close(number) }
        guard let number = numbers.first else { return log("the socket \(name) came without a descriptor") }
        let pause = context.configuration.unreadDataPause
        let socket = KeptSocket(adopting: number, poller: context.poller, pause: pause) { [unowned self] in
            perform(components.sockets.receiveData(on: name, at: Clock.now))
        }
        components.sockets.keep(socket, named: name)
    }

    // MARK: Records

    /// Reads what an earlier supervisor has planned; nothing that cannot be read.
    func restoreWakes() {
        do throws(WireError) {
            guard var record = try files.readWakes() else { return }
            program.installed = program.installed ?? record.program
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

    /// Writes the schedule if it has changed.
    func saveWakes() {
        components.wakes.record.program = program.installed
        components.wakes.record.wasForceQuit = lifecycle.wasForceQuit
        files.save(components.wakes.record)
    }
}
