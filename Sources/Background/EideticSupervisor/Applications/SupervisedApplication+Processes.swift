import EideticCore
import EideticLifecycle
import EideticSupervision

// The processes, from their births and greetings to their ends.
extension SupervisedApplication {
    func learn(_ report: ApplicationProcesses.Report) {
        switch report {
        case .changed: tell(.processChanged)
        case .started: tell(.settled)
        case .failedToStart(let reason): perform(components.launches.complete(.failed(reason)))
        case .ended(let process, let end, let isCurrent): processDidEnd(process, end: end, wasCurrent: isCurrent)
        }
    }

    func spawn(_ identity: ProcessIdentity) {
        // Before the birth, so that a successor finds a process that was just born.
        saveIntention(processes.prepare())
        do throws(SystemError) {
            let birth = try processes.start(try program.found, identity: identity)
            // A successor finds the process by its number before it runs the program, and starts no second one.
            saveRecord()
            birth.permitStart()
        } catch {
            perform(components.launches.fail(because: "\(error)"))
            handle(.processDidNotStart(identity))
        }
    }

    /// Takes a process under supervision that somebody else has started.
    func connect(_ handle: ProcessHandle, connection: Connection, hello: Hello) throws(SystemError) {
        let inBackground = hello.presentation?.isVisible == false
        let identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
        try processes.connect(handle, over: connection, as: identity, inBackground: inBackground, save: saveIntention)
        introduceProcess(by: .processConnected(inBackground: inBackground))
    }

    /// Passes an event that makes the current process known to the state machine.
    func introduceProcess(by event: LifecycleEvent) {
        let process = process
        // Before the event, whose effects concern the process by its new identity.
        process?.identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
        handle(event)
        process?.identity = lifecycle.process
    }

    /// Records the process that is about to become the current one; returns `false` if the record cannot be written.
    @discardableResult
    private func saveIntention(_ process: ApplicationRecord.ProcessRecord) -> Bool {
        files.save(ApplicationRecord(of: self, expecting: process))
    }

    private func processDidEnd(_ ended: RunningProcess, end: ProcessEnd, wasCurrent: Bool) {
        perform(components.recordEnd(of: ended, isCurrent: wasCurrent))
        tell(.processChanged)
        // What a process has asked for does not hold for the next one.
        refreshManifest()
        applyDeclarations()
        report(end, of: ended)
        handleWaitingRequests()
        perform(components.leftovers.clear(at: Clock.now))
    }

    /// Passes the end of a process to the state machine, if it knows the process.
    private func report(_ end: ProcessEnd, of ended: RunningProcess) {
        guard lifecycle.expectsExit(of: ended.identity) else {
            recordEnd(of: ended, as: ended.reasonOfEnd)
            return saveRecord()
        }
        guard let failure = ended.reasons.failedStart, lifecycle.adoptableState == nil, ended.reasons.kill == nil else {
            return handle(.processExited(ended.identity, status: end.waitStatus))
        }
        perform(components.launches.fail(because: failure))
        handle(.processDidNotStart(ended.identity))
    }

    // MARK: Messages

    func receive(
        _ message: ApplicationMessage,
        packet: PacketSocket.Packet,
        from process: RunningProcess
    ) throws(WireError) {
        switch message {
        case .hello(let hello): try greet(hello, from: process)
        case .wakes(let command): receive(command, with: packet)
        default: perform(process.conversation.receive(message, in: view))
        }
    }

    /// Answers the first message of a connection.
    private func greet(_ hello: Hello, from process: RunningProcess) throws(WireError) {
        guard !process.conversation.isOpen else { throw .unknownCase(type: "second hello", value: 1) }
        process.record(hello.declarations, below: context.hierarchy)
        applyDeclarations()
        let isIntroduced = components.plain.introduce()
        // The sockets of an earlier process, for one that was launched.
        let isLaunching = [.launchingInBackground, .launching].contains(lifecycle.reachedState)
        let rate = context.configuration.messageRate
        let welcome = files.welcome(to: process.page.token, from: context.generation, rate: rate)
        process.welcome(welcome, sockets: isLaunching ? components.sockets.messages : [])
        perform(components.connect(hello, in: view))
        process.conversation.presentation = hello.presentation ?? process.conversation.presentation
        if isIntroduced { handle(.processIntroduced(process.identity)) } else { tell(.settled) }
        // The declarations are recorded for a successor.
        saveRecord()
    }

    // MARK: Takeover

    /// Restores what an earlier supervisor has recorded, and takes over its process if it runs.
    func restore(_ record: ApplicationRecord) {
        program.installed = record.program ?? program.installed
        processes.number = record.processNumber
        lifecycle.history.launchCrashCount = Int(record.launchCrashCount)
        lifecycle.history.restore(wasForceQuit: record.wasForceQuit, wakeCrashCounts: record.wakeCrashCounts)
        components.restore(record)
        guard let found = record.process else { return }
        components.adoption.expect(found, at: Clock.now)
        guard let process = processes.open(found, identity: lifecycle.process) else {
            return components.adoption.lose()
        }
        process.record(found.declarations, below: context.hierarchy)
        applyDeclarations()
        if found.isPlain, found.killReport == nil { components.plain.adopt() }
        perform(components.adoption.begin(isFrozen: process.freezer.isFreezeRequested, in: view))
    }

    /// Handles the requests that have waited; those to a process that has ended launch another one, or are refused.
    func handleWaitingRequests() {
        while let effects = components.adoption.handleNext(in: view) { perform(effects) }
    }

    /// Completes the restoration, when all applications are known: launches for accepted wakes, and kills what is left
    /// of a process that has ended without a supervisor.
    func completeRestoration() {
        if let lost = components.adoption.takeLost() {
            components.keepRequests(of: lost.intention)
            switch processes.end(lost) {
            case true?: recordEnd(of: nil, as: lost.killReport ?? "ended while no supervisor ran")
            // It runs on without supervision.
            case false?: perform(components.adoption.rejectAll(because: .alreadyRunning))
            case nil: break
            }
            saveRecord()
        }
        if process == nil { handleWaitingRequests() }
    }
}
