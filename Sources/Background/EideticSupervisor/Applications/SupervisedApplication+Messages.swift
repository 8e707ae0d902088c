import EideticCore
import EideticLifecycle
import EideticSupervision

// The messages of the application, which are not trusted.
extension SupervisedApplication {
    /// Uses a connection for a process, from which messages follow.
    func attach(_ socket: PacketSocket, to process: RunningProcess) {
        let connection = Connection(
            socket: socket,
            poller: context.poller,
            limiter: context.limiter(of: process.handle.identifier)
        )
        attach(connection, to: process)
        connection.start()
    }

    func attach(_ connection: Connection, to process: RunningProcess) {
        process.connection?.close()
        process.connection = connection
        process.isWelcomed = false
        process.isIdleReportRequested = false
        connection.receive = { [unowned self, unowned process] packet in self.receive(packet, from: process) }
        connection.end = { [unowned self, unowned process] in self.connectionDidEnd(of: process) }
    }

    private func connectionDidEnd(of process: RunningProcess) {
        process.connection = nil
        process.isWelcomed = false
        if process.end == nil, process.killReport == nil {
            Log.write(.info, category: .background, message: "\(identifier) closed its connection")
        }
    }

    private func receive(_ packet: PacketSocket.Packet, from process: RunningProcess) {
        if !process.isWelcomed, let connection = process.connection,
            let refusal = connection.refuseOtherVersion(ofGreeting: packet.bytes)
        {
            log(refusal)
            return connection.fail()
        }
        do throws(WireError) {
            let message = try WireReader.decode(ApplicationMessage.self, from: packet.bytes)
            guard process === self.process else { return }
            if case .wakes(let command) = message {
                context.changeCount &+= 1
                return receive(command, with: packet)
            }
            try receive(message, from: process)
        } catch {
            log("connection closed, invalid message: \(error)")
            process.connection?.fail()
        }
    }

    private func receive(_ message: ApplicationMessage, from process: RunningProcess) throws(WireError) {
        let identity = process.identity
        context.changeCount &+= 1
        switch message {
        case .hello(let hello): try greet(hello, from: process)
        case .acknowledged(let sequence): acknowledge(sequence, from: process)
        case .taskNames(let names, _): process.taskNames = names
        case .idle:
            process.isIdleReportRequested = false
            handle(.openTaskCountChanged(process.openTasks, process: identity))
        case .wakeCompleted(let id, let result): handle(.wakeCompleted(id, result, process: identity))
        case .urlAnswered(let id, let isHandled): handle(.urlAnswered(id, isHandled: isHandled, process: identity))
        case .presentation(let presentation):
            process.presentation = presentation
            present(presentation)
        case .assertion(let assertion, let isHeld):
            assert(assertion, isHeld: isHeld, by: process)
        case .leaving:
            log("asks for its termination")
            // As when its window is closed while it is continued for its display.
            if lifecycle.state == .suspended { continueAfterBriefThaw(openTasks: 0) }
            // A request that the earlier supervisor obeyed comes again, and is no second one.
            guard process.repeatsTermination else { return terminate() }
            process.repeatsTermination = false
        // Received before, with its descriptor.
        case .wakes: break
        }
    }

    private func terminate() { handle(.terminate(grace: context.configuration.quitGracePeriod)) }

    private func acknowledge(_ sequence: UInt64, from process: RunningProcess) {
        guard let pending = process.pendingCallback, pending.sequence == sequence else { return }
        process.pendingCallback = nil
        components.taskNames.cancel()
        handle(.callbackAcknowledged(pending.callback, process: process.identity))
    }

    private func present(_ presentation: PresentationMessage) {
        handle(presentation.isVisible ? .show : .enterBackground)
        handle(presentation.isFocused ? .activate : .deactivate)
    }

    /// Answers the first message of a connection.
    private func greet(_ hello: Hello, from process: RunningProcess) throws(WireError) {
        guard !process.isWelcomed else { throw .unknownCase(type: "second hello", value: 1) }
        apply(hello.declarations, to: process)
        let isIntroduced = components.plain.introduce()
        welcome(process)
        let messages = process.waitingMessages
        process.waitingMessages = []
        passSockets(to: process)
        for message in messages { send(message) }
        if let pending = process.pendingCallback {
            send(.lifecycle(pending.callback, sequence: pending.sequence, deadline: pending.deadline))
        }
        if components.adoption.record != nil {
            adopt(process, running: hello.running, presentation: hello.presentation)
        }
        process.presentation = hello.presentation ?? process.presentation
        if isIntroduced { handle(.processIntroduced(process.identity)) } else { tell(.settled) }
        // The declarations are recorded for a successor.
        saveRecord()
    }

    private func welcome(_ process: RunningProcess) {
        process.isWelcomed = true
        var welcome = Welcome(
            generation: context.generation,
            token: process.token,
            archiveDirectory: archiveDirectory,
            socketPath: context.directory.supervisorSocket
        )
        welcome.messageRate = UInt32(clamping: context.configuration.messageRate)
        welcome.snapshotPath = context.directory.snapshotPath(of: identifier)
        try? process.page.write(UInt64(context.generation), to: .generation)
        process.connection?.send(WireWriter.encode(SupervisorMessage.welcome(welcome)), page: process.page)
    }

    private func assert(_ assertion: ContinuousAssertion, isHeld: Bool, by process: RunningProcess) {
        // As when another program makes it play while it is continued for its bus.
        if isHeld, lifecycle.state == .suspended { continueAfterBriefThaw(openTasks: 0) }
        if assertion == .audio { components.sound.claim(isHeld) }
        // It is held by the work that the application has named, for as long as there is some.
        if assertion == .continued, isHeld || !components.work.isEmpty { return }
        handle(.assertionChanged(assertion, isHeld: isHeld, process: process.identity))
    }

    /// Limits the application to its declarations: its desktop entry holds, where it says something else.
    func apply(_ declarations: Hello.Declarations, to process: RunningProcess) {
        process.declarations = declarations
        process.watchdog = ServiceWatchdog(of: process.handle.identifier)
        process.memory = ApplicationMemory(of: process.handle.identifier, below: context.hierarchy?.path)
        applyDeclarations()
    }
}
