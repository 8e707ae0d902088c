import EideticCore

/// Makes exchanges on a thread of its own, as many at once as it is given.
///
/// Who may start when is decided elsewhere; see `TransferScheduler`.
final class NetworkEngine: Sendable {
    private let inbox = EngineInbox()

    /// Starts the thread, once; `onEnd` is told there of each exchange that is over, before the one who waits for it.
    func run(_ options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void) {
        let inbox = inbox
        Thread.start(name: options.threadName) { EngineLoop(inbox: inbox, options: options, onEnd: onEnd).run() }
    }

    deinit { _ = inbox.post(.stop) }

    /// Begins an exchange; its completion is called once, whatever happens.
    func start(_ request: ExchangeRequest, queued: Duration) {
        if !inbox.post(.start(request, queued: queued)) { request.completion(.cancelled)() }
    }

    /// Ends an exchange as cancelled; no effect where it has ended.
    func cancel(_ id: UInt64) { _ = inbox.post(.cancel(id)) }

    /// Tells the engine anything else.
    func post(_ command: EngineCommand) { _ = inbox.post(command) }
}
