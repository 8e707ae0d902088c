import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// The connection: greeting, loss, the next supervisor.
extension SupervisedHost {
    /// The time for which a supervisor that has not answered is waited for, the first one or the next.
    var waitingLimit: Duration {
        state.welcome == nil ? .seconds(15) : performer.configuration.supervisorReconnectLimit
    }

    /// A Boolean value indicating whether the application is supervised, or soon will be again.
    var isSupervisorExpected: Bool {
        guard let lostTime else { return true }
        if isRefused || now >= lostTime + waitingLimit { return false }
        // One that was never there is not waited for.
        return connection != nil || state.welcome?.socketPath != nil
    }

    /// Sends the first message, between two callbacks only, so that the state it contains is complete.
    func greet() {
        guard let connection, state.pendingCallbacks.isEmpty else { return }
        isGreeted = true
        let configuration = performer.configuration
        var hello = Hello(identifier: configuration.identifier)
        hello.declarations.exitsOnSuspend = configuration.exitsOnSuspend || !configuration.isMultitaskingSupported
        hello.declarations.backgroundBudget = configuration.budgetOverride ?? configuration.backgroundBudget
        if let modes = configuration.backgroundModes.map({ Set($0.compactMap(\.mode)) }) {
            hello.declarations.wakeKinds = modes.wakeKinds
            hello.declarations.assertions = modes.assertions
        }
        hello.presentation = state.presentation
        hello.running = state.running
        connection.send(.hello(hello))
    }

    func accept(_ welcome: Welcome, descriptors: [Int32]) {
        defer { for number in descriptors { close(number) } }
        guard let connection, isGreeted, !connection.isWelcome else { return loseConnection() }
        guard let number = descriptors.first, let page = try? SharedPage(mapping: number) else {
            isRefused = true
            return loseConnection()
        }
        if let directory = welcome.archiveDirectory, performer.archive?.directory != directory {
            performer.archive = StateArchive(directory: directory)
        }
        application.snapshots.withLock { $0.path = welcome.snapshotPath }
        state.welcome = welcome
        lostTime = nil
        idleReports = IdleReports(messageRate: welcome.messageRate, at: now)
        use(page)
        application.inbox.isSupervised = true
        connection.isWelcome = true
        reportCompletedWakes()
        // This supervisor does not know of those that an earlier one has received.
        for _ in 0..<signals.terminationRequestCount { connection.send(.leaving) }
        application.wakeCenter.repeatUnansweredRequests()
        sendPresentation()
    }

    private func use(_ page: SharedPage) {
        continueAfterUnreportedSuspension()
        suspensions.replaceCount(by: page.suspensionCount)
        self.page = page
        application.tasks.attach(page)
    }

    func flush() { if connection?.flush() == false { loseConnection() } }

    /// Prepares for the next supervisor; an application that was about to exit does.
    func loseConnection() {
        if state.hasTerminated { performer.exitProcess() }
        connection = nil
        isGreeted = false
        for index in state.pendingCallbacks.indices { state.pendingCallbacks[index].sequence = nil }
        lostTime = lostTime ?? now
        nextAttempt = now
    }

    /// Connects to the next supervisor, if one listens.
    func reconnect() {
        guard connection == nil, nextAttempt <= now, isSupervisorExpected, let path = state.welcome?.socketPath else {
            return
        }
        nextAttempt = now + max(.milliseconds(20), min(.seconds(1), (now - (lostTime ?? now)) / 4))
        guard let socket = SupervisorAddress.connect(to: path) else { return }
        connection = SupervisorConnection(socket)
        greet()
    }

    /// Hands the application over to the stand-alone host.
    func leave() -> AdoptedProcess? {
        Log.write(.warning, category: .background, message: "the supervisor is gone: the application continues alone")
        let isInBackground = state.reached == .background
        application.tasks.detach(phase: isInBackground ? .background : .foreground)
        application.inbox.isSupervised = false
        application.noticeCenter.resume()
        application.noticeCenter.settle()
        // The stand-alone host answers them.
        application.wakeCenter.repeatUnansweredRequests()
        page = nil
        connection = nil
        guard let reached = state.reached else { return nil }
        if let presentation = state.presentation { application.inbox.post(presentation.events) }
        return AdoptedProcess(
            reached,
            openTasks: application.tasks.count,
            wakes: state.wakes.filter { wake in !untoldWakes.contains { $0.id == wake.id } },
            assertions: state.assertions
        )
    }
}

extension PresentationMessage {
    fileprivate var events: [LifecycleEvent] {
        [isFocused ? .activate : .deactivate, isVisible ? .show : .enterBackground]
    }
}
