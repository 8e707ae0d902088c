package import EideticLifecycle
package import EideticSupervision

/// The messages between the supervisor and a process: those that wait for its greeting, the callback that it has not
/// acknowledged, and the values that it has reported last.
package struct Conversation {
    /// A callback that the process has not acknowledged, by the number of its message.
    private struct SentCallback {
        let callback: LifecycleCallback
        let number: UInt64
        let deadline: Duration

        var message: SupervisorMessage { .lifecycle(callback, sequence: number, deadline: deadline) }
    }

    package static let waitingLimit = 256

    /// A Boolean value indicating whether the application knows its page, and receives messages.
    package private(set) var isOpen = false
    /// A Boolean value indicating whether the application was asked to report that no task is open, and has not.
    package var isIdleReportRequested = false
    /// A Boolean value indicating whether the application may repeat a request to terminate that is under way.
    package var repeatsTermination = false
    package var declarations = Hello.Declarations()
    package var presentation: PresentationMessage?
    /// The names of open tasks.
    package var taskNames: [String] = []
    private var waiting: [SupervisorMessage] = []
    private var sentCallback: SentCallback?
    private var lastNumber: UInt64

    /// Creates a conversation whose callbacks have the numbers after one, unlike those of an earlier supervisor.
    package init(after number: UInt64) { lastNumber = number }

    /// Ends a connection; messages wait for the greeting on another one.
    package mutating func close() {
        isOpen = false
        isIdleReportRequested = false
    }

    /// Returns the messages that are sent now: this one, or none until the application has greeted.
    package mutating func send(_ message: SupervisorMessage) -> [SupervisorMessage] {
        if isOpen { return [message] }
        if waiting.count < Self.waitingLimit { waiting.append(message) }
        return []
    }

    /// Opens the connection, as the application has greeted; returns the messages that have waited.
    package mutating func open() -> [SupervisorMessage] {
        isOpen = true
        defer { waiting = [] }
        return waiting + (sentCallback.map { [$0.message] } ?? [])
    }

    // MARK: Callbacks

    /// The callback that the process has not acknowledged.
    package var pendingCallback: LifecycleCallback? { sentCallback?.callback }

    /// The end of the time for the callback under way.
    package var callbackDeadline: Duration? { sentCallback?.deadline }

    /// Calls the application back; returns the messages that are sent now.
    package mutating func deliver(_ callback: LifecycleCallback, deadline: Duration) -> [SupervisorMessage] {
        lastNumber += 1
        let sent = SentCallback(callback: callback, number: lastNumber, deadline: deadline)
        sentCallback = sent
        return isOpen ? [sent.message] : []
    }

    /// Returns the callback that is acknowledged by a number; `nil` if it is not under way.
    package mutating func acknowledge(_ number: UInt64) -> LifecycleCallback? {
        guard let sent = sentCallback, sent.number == number else { return nil }
        sentCallback = nil
        return sent.callback
    }

    // MARK: Messages of the application

    /// Records a message of the application, which is not trusted; returns what is to be done.
    package mutating func receive(_ message: ApplicationMessage, in view: ApplicationView) -> [ApplicationEffect] {
        guard let process = view.process else { return [] }
        let identity = process.identity
        switch message {
        case .acknowledged(let number): return acknowledge(number).map { [.acknowledge($0)] } ?? []
        case .taskNames(let names, _):
            taskNames = names
            return []
        case .idle:
            isIdleReportRequested = false
            return [.handle(.openTaskCountChanged(process.openTasks(), process: identity))]
        case .wakeCompleted(let id, let result): return [.handle(.wakeCompleted(id, result, process: identity))]
        case .urlAnswered(let id, let isHandled):
            return [.handle(.urlAnswered(id, isHandled: isHandled, process: identity))]
        case .presentation(let presentation):
            self.presentation = presentation
            return [
                .handle(presentation.isVisible ? .show : .enterBackground),
                .handle(presentation.isFocused ? .activate : .deactivate),
            ]
        case .assertion(let assertion, let isHeld): return [.claim(assertion, isHeld: isHeld)]
        case .leaving:
            defer { repeatsTermination = false }
            // A request that the earlier supervisor obeyed comes again, and is no second one.
            return [.log("asks for its termination"), .continueInBackground] + (repeatsTermination ? [] : [.terminate])
        // They come with what else is known of their process.
        case .hello, .wakes: return []
        }
    }

    /// Forgets the callback under way, which nothing acknowledges.
    package mutating func forgetCallback() { sentCallback = nil }
}
