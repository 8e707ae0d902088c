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
