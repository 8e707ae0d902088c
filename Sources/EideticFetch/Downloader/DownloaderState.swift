import EideticCore

/// What a downloader remembers between downloads: troubled origins, and the budget for further attempts.
final class DownloaderState: Sendable {
    private struct State {
        var breaker = CircuitBreaker()
        var speeds = OriginSpeeds()
        var budget: RetryBudget
    }

    private let state: Guarded<State>
    private let networkSignal = NetworkSignal()
    private let time: any TimeSource
    private let retryClock: any RetryClock

    init(_ configuration: Downloader.Configuration) {
        state = Guarded(State(budget: RetryBudget(capacity: configuration.retryBudget)))
        time = configuration.time
        retryClock = configuration.retryClock
    }

    func resetAfterNetworkChange() {
        state.withLock { state in
            state.breaker.reset()
            state.speeds.reset()
        }
        networkSignal.signal()
    }

    /// Lets `delay` pass, or less where the network comes back before.
    func wait(for delay: Duration) async {
        let changeCount = networkSignal.changeCount
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [retryClock] in await retryClock.wait(for: delay) }
            group.addTask { [networkSignal] in await networkSignal.wait(after: changeCount) }
            await group.next()
            group.cancelAll()
        }
    }

    func depositRetry() { state.withLock { $0.budget.deposit() } }

    func withdrawRetry() -> Bool { state.withLock { $0.budget.withdraw() } }

    /// Lets an exchange through, or throws what its origin failed with last.
    ///
    /// - Returns: Whether it is to show that the origin answers again.
    @discardableResult
    func admit(_ origin: Origin, isForced: Bool) throws(EideticError) -> Bool {
        let now = time.uptime
        return try state.withLock { state throws(EideticError) in
            try state.breaker.admit(origin, now: now, isForced: isForced)
        }
    }

    /// Notes that an origin answers again.
    func recordResponse(from origin: Origin) { state.withLock { $0.breaker.close(origin) } }

    /// Notes how an exchange ended, and how fast it was.
    ///
    /// The speed also counts for the origin that the caller named: who asks there again is led the same way.
    func recordExchange(_ redirect: Redirect, outcome: ExchangeOutcome) {
        let now = time.uptime
        state.withLock { state in
            state.breaker.recordResult(of: redirect.origin, error: outcome.wasStopped ? nil : outcome.error, now: now)
            guard !outcome.wasStopped, !outcome.wasPaused else { return }
            state.speeds.recordDownload(from: redirect.origin, metrics: outcome.metrics, now: now)
            guard redirect.origin != redirect.originalRequest.origin else { return }
            state.speeds.recordDownload(from: redirect.originalRequest.origin, metrics: outcome.metrics, now: now)
        }
    }

    func speed(of origin: Origin) -> Double? {
        let now = time.uptime
        return state.withLock { $0.speeds.bytesPerSecond(of: origin, now: now) }
    }
}
