import EideticCore

/// Holds exchanges back until they may start, and hands them to the engine.
///
/// A slot is taken in the call that adds an exchange, not later on another thread: so the first of a burst starts first
/// whatever the order of the rest.
final class TransferScheduler: Sendable {
    /// Stands for an exchange among those who observe a priority.
    private final class Watch: Sendable {}

    private let queue: Guarded<TransferQueue>
    private let engine: TransferEngine
    private let time: any TimeSource

    init(_ queue: TransferQueue, _ engine: TransferEngine, _ time: any TimeSource) {
        self.queue = Guarded(queue)
        self.engine = engine
        self.time = time
    }

    var counts: (waiting: Int, running: Int) { queue.withLock { ($0.waitingCount, $0.runningCount) } }

    /// Adds an exchange; it starts at once where a slot is free.
    func enqueue(_ order: TransferOrder, _ context: WorkContext, isContinuation: Bool) {
        var order = order
        let completion = order.completion
        let id = order.id
        let watch = Watch()
        context.observePriority(watch) { [weak self] in self?.followSuspension() }
        order.completion = { [weak self] outcome in
            context.stopObserving(watch)
            self?.finish(id)
            completion(outcome)
        }
        let start = queue.withLock { [time, order] queue in
            let now = time.uptime
            queue.add(order, context, isContinuation: isContinuation, now: now)
            return queue.next(now: now)
        }
        if let start { begin(start) }
    }

    /// Ends an exchange as cancelled, whether it waits or runs; no effect where it has ended.
    func cancel(_ id: UInt64) {
        if let order = queue.withLock({ $0.cancel(id) }) {
            order.completion(.cancelled)
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
            for (entry, isSuspended) in queue.runningEntries { engine.post(.suspend(entry.id, isSuspended)) }
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

    private func finish(_ id: UInt64) {
        let start = queue.withLock { [time] queue in
            queue.finish(id)
            return queue.next(now: time.uptime)
        }
        // Where one came free one may start, and more only where the limits were raised: that starts them itself.
        if let start { begin(start) }
    }

    private func begin(_ start: TransferQueue.Start) {
        var order = start.order
        order.queued = time.uptime - start.since
        engine.start(order)
        // Somebody may have cancelled in between, before the engine knew of it.
        if queue.withLock({ $0.isCancelled(order.id) }) { engine.cancel(order.id) }
        // Nor of a suspension.
        if queue.withLock({ $0.isSuspending }) { tellSuspension() }
    }
}
