import EideticCore

/// Holds exchanges back until they may start, and hands them to the engine.
///
/// A slot is taken in the call that adds an exchange, not later on another thread: so the first of a burst starts first
/// whatever the order of the rest.
final class TransferScheduler: Sendable {
    private let queue: Guarded<TransferQueue>
    private let engine = TransferEngine()
    private let time: any TimeSource

    init(_ configuration: Downloader.Configuration, _ options: EngineOptions) {
        queue = Guarded(TransferQueue(configuration))
        time = configuration.time
        engine.run(options) { [weak self] in self?.finish($0) }
    }

    var counts: (waiting: Int, running: Int) { queue.withLock { ($0.waitingCount, $0.runningCount) } }

    /// Adds an exchange; it starts at once where a slot is free.
    func enqueue(_ order: TransferOrder) {
        order.context.observePriority(order) { [weak self] in self?.followSuspension() }
        let (isRefused, start) = queue.withLock { [time] queue in
            if queue.isOffline, order.hop.redirects == 0 { return (true, TransferQueue.Start?.none) }
            let now = time.uptime
            queue.add(order, now: now)
            return (false, queue.next(now: now))
        }
        if isRefused { refuse(order) } else if let start { begin(start) }
    }

    /// Lets nothing new begin, and ends what waits; or lets it begin again.
    func setOffline(_ isOffline: Bool) {
        let refused = queue.withLock { queue in
            queue.isOffline = isOffline
            return isOffline ? queue.removeWaiting() : []
        }
        for order in refused { refuse(order) }
    }

    private func refuse(_ order: TransferOrder) {
        order.context.stopObserving(order)
        order.completion(TransferOutcome(error: .offline(order.url)))()
    }

    /// Ends an exchange as cancelled, whether it waits or runs; no effect where it has ended.
    func cancel(_ id: UInt64) {
        if let order = queue.withLock({ $0.cancel(id) }) {
            order.context.stopObserving(order)
            order.completion(.cancelled)()
        } else {
            engine.cancel(id)
        }
    }

    /// Changes which downloads may start and take bytes.
    func changeSuspension(_ body: @Sendable (inout TransferQueue) -> Void) {
        queue.withLock { body(&$0) }
        tellSuspension()
        startNext()
    }

    /// Tells the engine something that concerns no exchange.
    func tell(_ command: EngineCommand) { engine.post(command) }

    /// A download that has become more urgent than the suspension goes on.
    private func followSuspension() {
        guard queue.withLock({ $0.isSuspending }) else { return }
        tellSuspension()
        startNext()
    }

    /// Tells it under the lock: of two changes at once the engine must not hear the later one first.
    private func tellSuspension() {
        queue.withLock { [engine] queue in
            for (id, isSuspended) in queue.running { engine.post(.suspend(id, isSuspended)) }
        }
    }

    /// Changes a rule of the queue; what may start now does.
    func change(_ body: @Sendable (inout TransferQueue) -> Void) {
        queue.withLock { body(&$0) }
        startNext()
    }

    /// Reads a rule of the queue.
    func read<Value: Sendable>(_ body: @Sendable (TransferQueue) -> Value) -> Value { queue.withLock { body($0) } }

    private func startNext() {
        while let start = queue.withLock({ [time] in $0.next(now: time.uptime) }) { begin(start) }
    }

    /// Frees the place of an exchange, on the engine's thread and before anybody is told how it ended.
    private func finish(_ order: TransferOrder) {
        order.context.stopObserving(order)
        let start = queue.withLock { [time] queue in
            queue.finish(order.id)
            return queue.next(now: time.uptime)
        }
        // Where one came free one may start, and more only where the limits were raised: that starts them itself.
        if let start { begin(start) }
    }

    private func begin(_ start: TransferQueue.Start) {
        engine.start(start.order, queued: time.uptime - start.since)
        let (isCancelled, isSuspending) = queue.withLock { ($0.isCancelled(start.order.id), $0.isSuspending) }
        // Somebody may have cancelled in between, before the engine knew of it.
        if isCancelled { engine.cancel(start.order.id) }
        // Nor of a suspension.
        if isSuspending { tellSuspension() }
    }
}
