import EideticCore
import EideticLifecycle
import EideticSupervision

// The messages of the application, which are not trusted.
extension SupervisedApplication {
    /// Uses a connection for a process, from which messages follow.
    func attach(_ connection: Connection, to process: RunningProcess) {
        process.use(connection, of: identifier) { [unowned self, unowned process] message, packet throws(WireError) in
            guard process === self.process else { return }
            context.changeCount &+= 1
            if case .wakes(let command) = message { return receive(command, with: packet) }
            try receive(message, from: process)
        }
    }

    private func receive(_ message: ApplicationMessage, from process: RunningProcess) throws(WireError) {
        let identity = process.identity
        switch message {
        case .hello(let hello): try greet(hello, from: process)
        case .acknowledged(let sequence): acknowledge(sequence, from: process)
        case .taskNames(let names, _): process.conversation.taskNames = names
        case .idle:
            process.conversation.isIdleReportRequested = false
            handle(.openTaskCountChanged(process.page.openTasks, process: identity))
        case .wakeCompleted(let id, let result): handle(.wakeCompleted(id, result, process: identity))
        case .urlAnswered(let id, let isHandled): handle(.urlAnswered(id, isHandled: isHandled, process: identity))
        case .presentation(let presentation):
            process.conversation.presentation = presentation
            handle(presentation.isVisible ? .show : .enterBackground)
            handle(presentation.isFocused ? .activate : .deactivate)
        case .assertion(let assertion, let isHeld):
            assert(assertion, isHeld: isHeld, by: process)
        case .leaving:
            log("asks for its termination")
            // As when its window is closed while it is continued for its display.
            if lifecycle.state == .suspended { perform(components.thaws.continueInBackground(in: view)) }
            // A request that the earlier supervisor obeyed comes again, and is no second one.
            guard process.conversation.repeatsTermination else {
                return handle(.terminate(grace: context.configuration.quitGracePeriod))
            }
            process.conversation.repeatsTermination = false
        // Received before, with its descriptor.
        case .wakes: break
        }
    }

    private func acknowledge(_ sequence: UInt64, from process: RunningProcess) {
        guard let callback = process.conversation.acknowledge(sequence) else { return }
        components.taskNames.cancel()
        handle(.callbackAcknowledged(callback, process: process.identity))
    }

    /// Answers the first message of a connection.
    private func greet(_ hello: Hello, from process: RunningProcess) throws(WireError) {
        guard !process.conversation.isOpen else { throw .unknownCase(type: "second hello", value: 1) }
        process.record(hello.declarations, below: context.hierarchy)
        applyDeclarations()
        let isIntroduced = components.plain.introduce()
        welcome(process)
        let messages = process.conversation.open()
        // The sockets of an earlier process, for one that was launched.
        if [.launchingInBackground, .launching].contains(lifecycle.reachedState) {
            for (message, socket) in components.sockets.messages {
                process.connection?.send(WireWriter.encode(message), attachment: socket)
            }
        }
        process.pass(messages)
        if components.adoption.record != nil { adopt(hello.running, presentation: hello.presentation) }
        process.conversation.presentation = hello.presentation ?? process.conversation.presentation
        if isIntroduced { handle(.processIntroduced(process.identity)) } else { tell(.settled) }
        // The declarations are recorded for a successor.
        saveRecord()
    }

    private func welcome(_ process: RunningProcess) {
        var welcome = Welcome(
            generation: context.generation,
            token: process.page.token,
            archiveDirectory: files.archiveDirectory,
            socketPath: context.directory.supervisorSocket
        )
        welcome.messageRate = UInt32(clamping: context.configuration.messageRate)
        welcome.snapshotPath = files.snapshotPath
        try? process.page.file.write(UInt64(context.generation), to: .generation)
        process.connection?.send(WireWriter.encode(SupervisorMessage.welcome(welcome)), page: process.page.file)
    }

    private func assert(_ assertion: ContinuousAssertion, isHeld: Bool, by process: RunningProcess) {
        // As when another program makes it play while it is continued for its bus.
        if isHeld, lifecycle.state == .suspended { perform(components.thaws.continueInBackground(in: view)) }
        if assertion == .audio { components.sound.claim(isHeld) }
        // It is held by the work that the application has named, for as long as there is some.
        if assertion == .continued, isHeld || !components.work.isEmpty { return }
        handle(.assertionChanged(assertion, isHeld: isHeld, process: process.identity))
    }
}
