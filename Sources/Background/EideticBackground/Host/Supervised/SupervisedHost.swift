import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The host of an application whose lifecycle a supervisor decides: performs what its messages ask for, and
/// acknowledges it.
///
/// Used by the lifecycle thread only.
final class SupervisedHost {
    let performer: EffectPerformer
    let signals: SignalHandlers
    var connection: SupervisorConnection?
    var state = SupervisedState()
    var page: SharedPage?
    var suspensions = SuspensionRecord()
    /// The time at which the connection was lost or opened, until the supervisor welcomes the application.
    var lostTime: Duration?
    var nextAttempt: Duration = .zero
    /// A Boolean value indicating whether `hello` was sent on this connection.
    var isGreeted = false
    /// A Boolean value indicating whether the supervisor does not want this application.
    var isRefused = false
    /// The completed wakes that no supervisor was told of yet.
    var untoldWakes: [(id: UInt64, result: WakeResult)] = []
    var idleReports = IdleReports(messageRate: 0, at: .zero)
    var terminal: TerminalPresenter

    var application: Application { performer.application }
    var now: Duration { application.clock.uptime }

    init(performer: EffectPerformer, signals: SignalHandlers, socket: PacketSocket) {
        self.performer = performer
        self.signals = signals
        connection = SupervisorConnection(socket)
        terminal = TerminalPresenter(isEnabled: performer.configuration.followsTerminal, signals: signals)
    }

    /// Runs until the supervisor is gone for good.
    ///
    /// - Returns: The state in which it left the application; `nil` if the application was not launched.
    func run() -> AdoptedProcess? {
        lostTime = now
        state.presentation = terminal.presentation
        greet()
        while true {
            flush()
            if !isSupervisorExpected, state.pendingCallbacks.isEmpty { return leave() }
            wait()
            receive()
            continueAfterUnreportedSuspension()
            readNotices()
            drainInbox()
            _ = performer.checkObservers(at: now)
            if let presentation = terminal.update() { report(presentation) }
            reportIdle()
            sendWakeCommands()
            reconnect()
        }
    }

    private func wait() {
        var polled = [pollfd(fd: application.inbox.descriptor, events: Int16(POLLIN), revents: 0)]
        polled += application.noticeSources.pollDescriptors
        if let connection { polled.append(connection.pollDescriptor) }
        var moments = [performer.nextDeadline, idleReports.nextTime(at: now)]
        // After the limit, only a callback that runs is waited for.
        if let lostTime, isSupervisorExpected {
            moments += [connection == nil ? nextAttempt : nil, lostTime + waitingLimit]
        }
        var limit = moments.compactMap { $0.map { $0 - now } }.min()
        if let interval = terminal.interval { limit = min(limit ?? interval, interval) }
        _ = poll(&polled, nfds_t(polled.count), limit.map(StandaloneHost.milliseconds) ?? -1)
    }

    /// Posts what the sources of notices have to report; holds it if the process was suspended since.
    private func readNotices() {
        let notices = application.noticeSources.read()
        if let page, page.suspensionCount != suspensions.handledCount { application.noticeCenter.suspend() }
        for notice in notices { application.noticeCenter.post(notice) }
    }

    /// Reports that no task was open, as the supervisor has asked; it reads the count before it acts.
    private func reportIdle() {
        if application.inbox.takeIdleReport() { idleReports.isDue = true }
        guard idleReports.isDue, let connection, connection.isWelcome else {
            return idleReports.isDue = false
        }
        if idleReports.take(at: now) { connection.send(.idle) }
    }

    private func drainInbox() {
        let batch = application.inbox.drain()
        if let archive = batch.archive { performer.unsavedArchive = archive }
        for number in batch.signals { handleSignal(number) }
        let presentation = state.presentation
        for event in batch.events { handle(event) }
        if state.presentation != presentation, let changed = state.presentation { report(changed) }
    }

    /// Requests termination, which the supervisor carries out; the third signal ends the process.
    private func handleSignal(_ number: Int32) {
        guard [SIGTERM, SIGINT, SIGHUP].contains(number),
            let count = signals.recordTerminationRequest(by: number)
        else { return }
        if count > 2 { signals.terminateByDefault(number) }
        // Without a supervisor it is sent after the next welcome.
        sendIfWelcome(.leaving)
    }

    private func report(_ presentation: PresentationMessage) {
        state.presentation = presentation
        state.isPresentationUnsent = true
        sendPresentation()
    }

    func handle(_ event: LifecycleEvent) {
        switch event {
        case .callbackAcknowledged(let callback, _): complete(callback)
        case .wakeCompleted(let id, let result, _): untoldWakes.append((id, result))
        case .urlAnswered(let id, let isHandled, _): sendIfWelcome(.urlAnswered(id, isHandled: isHandled))
        case .assertionChanged(let assertion, let isHeld, _):
            if isHeld { state.assertions.insert(assertion) } else { state.assertions.remove(assertion) }
            sendIfWelcome(.assertion(assertion, isHeld: isHeld))
        case .activate, .deactivate: change { $0.isFocused = event == .activate }
        case .show, .enterBackground: change { $0.isVisible = event == .show }
        default: break
        }
        reportCompletedWakes()
    }

    /// Reports wakes when there is a supervisor: one that adopts this application learns of them first.
    func reportCompletedWakes() {
        guard let connection, connection.isWelcome else { return }
        for wake in untoldWakes {
            connection.send(.wakeCompleted(wake.id, wake.result))
            state.wakes.removeAll { $0.id == wake.id }
        }
        untoldWakes = []
    }

    func sendPresentation() {
        guard state.isPresentationUnsent, let presentation = state.presentation, let connection, connection.isWelcome
        else { return }
        connection.send(.presentation(presentation))
        state.isPresentationUnsent = false
    }

    func sendWakeCommands() {
        guard let connection, connection.isWelcome else { return }
        for request in application.wakeCenter.takeRequests() {
            connection.send(.wakes(request.command), with: request.descriptor)
        }
    }

    func sendIfWelcome(_ message: ApplicationMessage) {
        if let connection, connection.isWelcome { connection.send(message) }
    }

    private func change(_ body: (inout PresentationMessage) -> Void) {
        var presentation = state.presentation ?? PresentationMessage(isVisible: true, isFocused: true)
        body(&presentation)
        state.presentation = presentation
    }

    private func complete(_ callback: LifecycleCallback) {
        guard let completed = state.complete(callback) else { return }
        switch callback {
        case .launch, .launchInBackground: performer.finishLaunch()
        case .willResignActive, .willEnterForeground: performer.setState(.inactive, at: now)
        // Before the acknowledgement: the process may be frozen after it.
        case .didEnterBackground: performer.saveArchive()
        // Without a supervisor nobody else ends the process.
        case .willTerminate where completed.sequence == nil: performer.exitProcess()
        case .didBecomeActive, .openURL, .wake, .willTerminate: break
        }
        if let sequence = completed.sequence { sendIfWelcome(.acknowledged(sequence: sequence)) }
        if state.pendingCallbacks.isEmpty, let connection, !connection.isWelcome, !isGreeted { greet() }
    }
}
