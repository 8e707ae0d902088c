import EideticCore

/// Holds exchanges back until they may start, and hands them to the engine.
///
/// A slot is taken in the call that adds an exchange, not later on another thread: so the first of a burst starts first
/// whatever the order of the rest.
final class DownloadScheduler: Sendable {
    private let queue: Guarded<DownloadQueue>
    private let engine = NetworkEngine()
    private let time: any TimeSource

    init(configuration: Downloader.Configuration, options: EngineOptions) {
        queue = Guarded(DownloadQueue(configuration))
        time = configuration.time
        engine.run(options) { [weak self] in self?.finish($0) }
    }

    var counts: (waiting: Int, running: Int) { queue.withLock { ($0.waitingCount, $0.runningCount) } }

    /// Adds an exchange; it starts at once where a slot is free.
    func enqueue(_ request: ExchangeRequest) {
        request.context.addPriorityObserver(request) { [weak self] in self?.applyPriorityChange() }
        let (isRefused, ready) = queue.withLock { [time] queue in
            if queue.isOffline, request.redirect.redirectCount == 0 { return (true, DownloadQueue.ReadyRequest?.none) }
            let now = time.uptime
            queue.add(request, now: now)
            return (false, queue.dequeue(now: now))
        }
        if isRefused { failOffline(request) } else if let ready { start(ready) }
    }

    /// Lets nothing new begin, and ends what waits; or lets it begin again.
    func setOffline(_ isOffline: Bool) {
        let refusedRequests = queue.withLock { queue in
            queue.isOffline = isOffline
            return isOffline ? queue.removeWaiting() : []
        }
        for request in refusedRequests { failOffline(request) }
    }

    private func failOffline(_ request: ExchangeRequest) {
        request.context.removePriorityObserver(request)
        request.completion(ExchangeOutcome(error: .offline(url: request.url)))()
    }

    /// Ends an exchange as cancelled, whether it waits or runs; no effect where it has ended.
    func cancel(_ id: UInt64) {
        if let request = queue.withLock({ $0.cancel(id) }) {
            request.context.removePriorityObserver(request)
            request.completion(.cancelled)()
        } else {
            engine.cancel(id)
        }
    }

    /// Changes which downloads may start and take bytes.
    func updateSuspension(_ body: @Sendable (inout DownloadQueue) -> Void) {
        queue.withLock { body(&$0) }
        postSuspension()
        startReadyRequests()
    }

    /// Tells the engine something that concerns no exchange.
    func post(_ command: EngineCommand) { engine.post(command) }

    /// A download that has become more urgent than the suspension goes on.
    private func applyPriorityChange() {
        guard queue.withLock({ $0.isSuspending }) else { return }
        postSuspension()
        startReadyRequests()
    }

    /// Tells it under the lock: of two changes at once the engine must not hear the later one first.
    private func postSuspension() {
        queue.withLock { [engine] queue in
            for (id, isSuspended) in queue.running { engine.post(.suspend(id, isSuspended)) }
        }
    }

    /// Changes a rule of the queue; what may start now does.
    func update(_ body: @Sendable (inout DownloadQueue) -> Void) {
        queue.withLock { body(&$0) }
        startReadyRequests()
    }

    /// Reads a rule of the queue.
    func read<Value: Sendable>(_ body: @Sendable (DownloadQueue) -> Value) -> Value { queue.withLock { body($0) } }

    private func startReadyRequests() {
        while let ready = queue.withLock({ [time] in $0.dequeue(now: time.uptime) }) { start(ready) }
    }

    /// Frees the place of an exchange, on the engine's thread and before anybody is told how it ended.
    private func finish(_ request: ExchangeRequest) {
        request.context.removePriorityObserver(request)
        let ready = queue.withLock { [time] queue in
            queue.finish(request.id)
            return queue.dequeue(now: time.uptime)
        }
        // Where one came free one may start, and more only where the limits were raised: that starts them itself.
        if let ready { start(ready) }
    }

    private func start(_ ready: DownloadQueue.ReadyRequest) {
        engine.start(ready.request, queued: time.uptime - ready.enqueueTime)
        let (isCancelled, isSuspending) = queue.withLock { ($0.isCancelled(ready.request.id), $0.isSuspending) }
        // Somebody may have cancelled in between, before the engine knew of it.
        if isCancelled { engine.cancel(ready.request.id) }
        // Nor of a suspension.
        if isSuspending { postSuspension() }
    }
}
