import EideticCore

/// An engine that performs exchanges over a network of the user.
///
/// A body arrives as a whole, so commands about bodies on their way have no effect.
final class ClientEngine: ExchangeEngine {
    private struct Running {
        let request: ExchangeRequest
        var task: Task<Void, Never>?
    }

    private struct State {
        var running: [UInt64: Running] = [:]
        var options: EngineOptions?
        var onEnd: @Sendable (ExchangeRequest) -> Void = { _ in }
    }

    private let client: any NetworkClient
    private let state = Guarded(State())

    init(_ client: any NetworkClient) { self.client = client }

    func run(_ options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void) {
        state.withLock { state in (state.options, state.onEnd) = (options, onEnd) }
    }

    func start(_ request: ExchangeRequest, queued: Duration) {
        guard let options = state.withLock({ $0.options }) else { return }
        state.withLock { $0.running[request.id] = Running(request: request) }
        let task = Task.detached { [self] in
            let exchange = ClientExchange(request: request, options: options, queued: queued)
            end(request.id, with: await exchange.outcome(from: client))
        }
        let isCancelled = state.withLock { state in
            state.running[request.id]?.task = task
            return state.running[request.id] == nil
        }
        if isCancelled { task.cancel() }
    }

    func cancel(_ id: UInt64) { end(id, with: .cancelled) }

    func post(_ command: EngineCommand) {}

    /// Completes an exchange, unless it has ended; one that is cancelled does not wait for its network.
    private func end(_ id: UInt64, with outcome: ExchangeOutcome) {
        let (running, onEnd) = state.withLock { ($0.running.removeValue(forKey: id), $0.onEnd) }
        guard let running else { return }
        running.task?.cancel()
        onEnd(running.request)
        running.request.completion(outcome)()
    }
}

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
