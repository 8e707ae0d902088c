import EideticCore

/// An engine that performs exchanges concurrently on a thread of its own.
///
/// `DownloadScheduler` decides which exchanges start.
final class NetworkEngine: Sendable {
    private let inbox = EngineInbox()

    /// Starts the thread; must be called once.
    ///
    /// - Parameters:
    ///   - options: The options common to all exchanges.
    ///   - onEnd: A function that is called on the thread after each exchange, before the completion of its request.
    func run(_ options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void) {
        let inbox = inbox
        Thread.start(name: options.threadName) { EngineLoop(inbox: inbox, options: options, onEnd: onEnd).run() }
    }

    deinit { _ = inbox.post(.stop) }

    /// Starts an exchange; the completion of its request is called exactly once.
    func start(_ request: ExchangeRequest, queued: Duration) {
        if !inbox.post(.start(request, queued: queued)) { request.completion(.cancelled)() }
    }

    /// Cancels an exchange; has no effect on one that has ended.
    func cancel(_ id: UInt64) { _ = inbox.post(.cancel(id)) }

    /// Posts any other command.
    func post(_ command: EngineCommand) { _ = inbox.post(command) }
}
