import EideticCore

/// What a downloader remembers between downloads: troubled origins, and the budget for further attempts.
final class DownloaderState: Sendable {
    private struct State {
        var breaker = CircuitBreaker()
        var speeds = HostSpeeds()
        var budget: RetryBudget
    }

    private let state: Guarded<State>
    private let network = NetworkSignal()
    private let time: any TimeSource
    private let clock: any RetryClock

    init(_ configuration: Downloader.Configuration) {
        state = Guarded(State(budget: RetryBudget(capacity: configuration.retryBudget)))
        time = configuration.time
        clock = configuration.retryClock
    }

    func networkCameBack() {
        state.withLock { state in
            state.breaker.reset()
            state.speeds.reset()
        }
        network.fire()
    }

    /// Lets `delay` pass, or less where the network comes back before.
    func wait(_ delay: Duration) async {
        let changes = network.changes
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [clock] in await clock.wait(delay) }
            group.addTask { [network] in await network.wait(after: changes) }
            await group.next()
            group.cancelAll()
        }
    }

    func depositAttempt() { state.withLock { $0.budget.deposit() } }

    func withdrawAttempt() -> Bool { state.withLock { $0.budget.withdraw() } }

    /// Lets an exchange through, or throws what its origin failed with last.
    ///
    /// - Returns: Whether it is to show that the origin answers again.
    @discardableResult
    func admit(_ origin: Origin, insists: Bool) throws(EideticError) -> Bool {
        let now = time.uptime
        return try state.withLock { state throws(EideticError) in
            try state.breaker.admit(origin, now: now, insists: insists)
        }
    }

    /// Notes that an origin answers again.
    func noteAnswer(of origin: Origin) { state.withLock { $0.breaker.forget(origin) } }

    /// Notes how an exchange ended, and how fast it was.
    ///
    /// The speed also counts for the origin that the caller named: who asks there again is led the same way.
    func note(_ hop: Hop, _ outcome: TransferOutcome) {
        let now = time.uptime
        state.withLock { state in
            state.breaker.note(hop.origin, outcome.wasStopped ? nil : outcome.error, now: now)
            guard !outcome.wasStopped, !outcome.wasHeld else { return }
            state.speeds.note(hop.origin, outcome.metrics, now: now)
            guard hop.origin != hop.request.origin else { return }
            state.speeds.note(hop.request.origin, outcome.metrics, now: now)
        }
    }

    func speed(of origin: Origin) -> Double? {
        let now = time.uptime
        return state.withLock { $0.speeds.bytesPerSecond(of: origin, now: now) }
    }
}
