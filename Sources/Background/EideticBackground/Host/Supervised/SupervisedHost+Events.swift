import EideticCore
import EideticLifecycle
import EideticSupervision

// Events of the application, which become messages.
extension SupervisedHost {
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

    /// Sends a presentation that waited for a supervisor.
    func sendPresentation() {
        guard state.isPresentationUnsent, let presentation = state.presentation, let connection, connection.isWelcome
        else { return }
        connection.send(.presentation(presentation))
        state.isPresentationUnsent = false
    }

    /// Sends the requests for wakes and notifications.
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
