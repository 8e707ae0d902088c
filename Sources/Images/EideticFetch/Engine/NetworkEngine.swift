import EideticCore

/// A performer of exchanges, whose scheduler decides which of them start.
protocol ExchangeEngine: Sendable {
    /// Prepares the engine; called once, before anything else.
    func run(_ options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void)

    /// Starts an exchange; the completion of its request is called exactly once.
    func start(_ request: ExchangeRequest, queued: Duration)

    /// Cancels an exchange; has no effect on one that has ended.
    func cancel(_ id: UInt64)

    /// Posts any other command.
    func post(_ command: EngineCommand)
}

/// An engine that performs exchanges concurrently on a thread of its own.
///
/// `DownloadScheduler` decides which exchanges start.
final class NetworkEngine: ExchangeEngine {
    private let inbox = EngineInbox()

    /// Starts the thread, on which `onEnd` is called.
    func run(_ options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void) {
        let inbox = inbox
        Thread.start(name: options.threadName) { EngineLoop(inbox: inbox, options: options, onEnd: onEnd).run() }
    }

    deinit { _ = inbox.post(.stop) }

    func start(_ request: ExchangeRequest, queued: Duration) {
        if !inbox.post(.start(request, queued: queued)) { request.completion(.cancelled)() }
    }

    func cancel(_ id: UInt64) { _ = inbox.post(.cancel(id)) }

    func post(_ command: EngineCommand) { _ = inbox.post(command) }
}
