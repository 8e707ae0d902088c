import EideticCore

/// A thread that ends the processes of a pool that nobody has needed for a time.
final class IdleProcesses: Sendable {
    private let isRunning = Monitor(false)
    private let interval: Duration
    private let threads = WorkPool(name: "eidetic idle", maximumThreadCount: 1)

    /// Creates a watch that looks every `interval`.
    init(interval: Duration) { self.interval = interval }

    /// Looks after the processes of a pool, until none waits or the pool is gone.
    func start(for pool: HelperPool) {
        let isFirst = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        guard isFirst else { return }
        threads.enqueue(in: JobContext(priority: .low)) { [self, weak pool] in
            while true {
                _ = isRunning.wait(for: interval) { _ in nil as Void? }
                // Before the look, so that a process that begins to wait after it starts the next watch.
                isRunning.withLock { $0 = false }
                guard let pool, pool.endIdleProcesses() else { return }
                let isOther = isRunning.withLock { isRunning in
                    defer { isRunning = true }
                    return isRunning
                }
                if isOther { return }
            }
        }
    }
}
