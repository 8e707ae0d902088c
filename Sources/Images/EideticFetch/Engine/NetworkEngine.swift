import EideticCore

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
