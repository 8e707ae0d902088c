import EideticCore

/// The state that downloads share: the circuit of each origin, and the budget for retries.
final class DownloaderState: Sendable {
    private struct State {
        var breaker = CircuitBreaker()
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
        state.withLock { $0.breaker.reset() }
        networkSignal.signal()
    }

    /// Returns after `delay`, or as soon as the network changes; at once if it has changed since `count`.
    func wait(for delay: Duration, orChangeAfter count: UInt64? = nil) async {
        let changeCount = count ?? networkSignal.changeCount
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [retryClock] in await retryClock.wait(for: delay) }
            group.addTask { [networkSignal] in await networkSignal.wait(after: changeCount) }
            await group.next()
            group.cancelAll()
        }
    }

    /// The number of changes of the network so far.
    var networkChangeCount: UInt64 { networkSignal.changeCount }

    func depositRetry() { state.withLock { $0.budget.deposit() } }

    func withdrawRetry() -> Bool { state.withLock { $0.budget.withdraw() } }

    /// Admits an exchange, or throws the last error of its origin while the circuit is open.
    ///
    /// - Returns: `true` if the exchange is a probe of the origin; otherwise, `false`.
    func admit(_ redirect: Redirect) throws(EideticError) -> Bool {
        let now = time.uptime
        let isForced = redirect.originalRequest.ignoresFailureList
        return try state.withLock { state throws(EideticError) in
            try state.breaker.admit(redirect.origin, url: redirect.url, now: now, isForced: isForced)
        }
    }

    func recordResponse(from origin: Origin) { state.withLock { $0.breaker.close(origin) } }

    func recordExchange(_ redirect: Redirect, outcome: ExchangeOutcome) {
        let now = outcome.endTime ?? time.uptime
        let error = outcome.wasStopped ? nil : outcome.error
        let (isUnreachable, startTime) = (outcome.isUnreachable, outcome.startTime ?? now)
        state.withLock { state in
            state.breaker.recordResult(
                of: redirect.origin,
                error: error,
                isUnreachable: isUnreachable,
                startTime: startTime,
                now: now
            )
        }
    }
}
