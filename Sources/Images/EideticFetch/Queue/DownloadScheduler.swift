import EideticCore

/// The scheduler that queues exchanges and passes them to the engine when they may start.
///
/// A slot is assigned in the call that enqueues an exchange, not later on another thread. So the first exchange of a
/// burst starts first, whatever the order of the others.
final class DownloadScheduler: Sendable {
    private let queue: Guarded<DownloadQueue>
    private let engine: any ExchangeEngine
    private let bodyBudget: BodyBudget
    private let time: any TimeSource

    init(configuration: Downloader.Configuration, options: EngineOptions) {
        queue = Guarded(DownloadQueue(configuration))
        time = configuration.time
        engine = configuration.network.map { ClientEngine($0) } ?? NetworkEngine()
        bodyBudget = options.bodyBudget
        engine.run(options) { [weak self] in self?.finish($0) }
        bodyBudget.setReleaseHandler { [weak self] in
            self?.engine.post(.memoryReleased)
            self?.startReadyRequests()
        }
    }

    var counts: (waiting: Int, running: Int) { queue.withLock { ($0.waitingCount, $0.runningCount) } }

    /// Enqueues an exchange, which starts at once if a slot is free.
    func enqueue(_ request: ExchangeRequest) {
        request.context.addPriorityObserver(request) { [weak self] in self?.applyPriorityChange() }
        let (isRefused, ready) = queue.withLock { [time, bodyBudget] queue in
            if queue.isOffline, request.redirect.redirectCount == 0 { return (true, DownloadQueue.ReadyRequest?.none) }
            let now = time.uptime
            queue.add(request, now: now)
            return (false, queue.dequeue(now: now, blockedPriority: bodyBudget.blockedPriority))
        }
        if isRefused { failOffline(request) } else if let ready { start(ready) }
    }

    /// A Boolean value indicating whether downloads fail instead of being started.
    var isOffline: Bool { read { $0.isOffline } }

    /// Sets whether new downloads fail as `offline`; if so, downloads that wait fail as well.
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

    /// Cancels an exchange that waits or runs; has no effect on one that has ended.
    func cancel(_ id: UInt64) {
        if let request = queue.withLock({ $0.cancel(id) }) {
            request.context.removePriorityObserver(request)
            request.completion(.cancelled)()
        } else {
            engine.cancel(id)
        }
    }

    func post(_ command: EngineCommand) { engine.post(command) }

    /// Changes a limit of the queue, and starts the exchanges that it admits.
    func update(_ body: @Sendable (inout DownloadQueue) -> Void) {
        queue.withLock { body(&$0) }
        startReadyRequests()
    }

    func read<Value: Sendable>(_ body: @Sendable (DownloadQueue) -> Value) -> Value { queue.withLock { body($0) } }

    /// Changes the rate limit, under the lock so that the engine receives concurrent changes in the same order.
    func setRateLimit(_ bytesPerSecond: Int?) {
        queue.withLock { [engine] queue in
            queue.maximumBytesPerSecond = bytesPerSecond
            engine.post(.setRateLimit(bytesPerSecond))
        }
    }

    private func startReadyRequests() {
        while let ready = queue.withLock({ dequeue(from: &$0) }) { start(ready) }
    }

    private func dequeue(from queue: inout DownloadQueue) -> DownloadQueue.ReadyRequest? {
        queue.dequeue(now: time.uptime, blockedPriority: bodyBudget.blockedPriority)
    }

    /// Frees the slot of an exchange, on the engine's thread and before the completion of the exchange.
    private func finish(_ request: ExchangeRequest) {
        request.context.removePriorityObserver(request)
        let ready = queue.withLock { queue in
            queue.finish(request.id)
            return dequeue(from: &queue)
        }
        // One free slot admits one exchange. After a higher limit, `update` starts the others.
        if let ready { start(ready) }
    }

    private func start(_ ready: DownloadQueue.ReadyRequest) {
        let request = ready.request
        let queued = time.uptime - ready.enqueueTime
        request.context.addWaitingTime(queued)
        engine.start(request, queued: queued)
        // The engine has missed a cancellation or a suspension from before it received the request.
        let (isCancelled, isSuspending) = queue.withLock { ($0.isCancelled(request.id), $0.isSuspending) }
        if isCancelled { engine.cancel(request.id) }
        if isSuspending { postSuspension() }
    }
}

// MARK: Suspension
extension DownloadScheduler {
    /// Changes the suspended priorities.
    func updateSuspension(_ body: @Sendable (inout DownloadQueue) -> Void) {
        queue.withLock { body(&$0) }
        postSuspension()
        startReadyRequests()
    }

    /// Resumes the exchanges whose priority has been raised above the suspended ones.
    private func applyPriorityChange() {
        bodyBudget.priorityChanged()
        guard queue.withLock({ $0.isSuspending }) else { return }
        postSuspension()
        startReadyRequests()
    }

    /// Posts the state of each exchange, under the lock so that the engine receives concurrent changes in the same
    /// order.
    private func postSuspension() {
        queue.withLock { [engine] queue in
            for (id, isSuspended) in queue.running { engine.post(.setSuspended(id, isSuspended: isSuspended)) }
        }
    }
}
