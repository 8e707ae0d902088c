import Glibc

/// An executor of tasks on threads of our own, where file work needs no other thread.
///
/// A task on the cooperative pool must not block, so each of its file operations goes to a thread of a ``WorkPool`` and
/// back, which takes longer than the operation. Tasks that prefer this executor perform the work of such pools at once.
/// One thread runs as long as it keeps up; another one starts for each `jobsPerThread` jobs that wait, and one that has
/// nothing to do looks from time to time whether jobs wait behind a thread that blocks.
@usableFromInline
package final class BlockingExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// The number of jobs in the array that have been started.
        var startedCount = 0
        var threadCount = 0
        var idleThreadCount = 0
        /// The number of idle threads that look from time to time whether jobs wait.
        var watchingThreadCount = 0
        var isClosed = false

        var busyThreadCount: Int { threadCount - idleThreadCount }

        /// Returns the thread that the waiting jobs need: there are too many of them, or no thread watches a busy one.
        mutating func demand(maximumThreadCount: Int) -> Demand {
            let count = jobs.count - startedCount
            guard count > 0, count > busyThreadCount * BlockingExecutor.jobsPerThread || watchingThreadCount == 0 else {
                return .none
            }
            if idleThreadCount > 0 { return .wakeUp }
            guard threadCount < maximumThreadCount else { return .none }
            threadCount += 1
            return .start
        }

        mutating func popFirst() -> UnownedJob? {
            guard startedCount < jobs.count else { return nil }
            let job = jobs[startedCount]
            startedCount += 1
            // Those that have been started are removed without moving others often.
            if startedCount == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                startedCount = 0
            } else if startedCount >= 256 {
                jobs.removeSubrange(..<startedCount)
                startedCount = 0
            }
            return job
        }

        /// Counts the calling thread as idle; returns whether it watches others.
        mutating func beginIdling() -> Bool {
            idleThreadCount += 1
            guard busyThreadCount > 0 else { return false }
            watchingThreadCount += 1
            return true
        }

        mutating func endIdling(watching: Bool) {
            idleThreadCount -= 1
            if watching { watchingThreadCount -= 1 }
        }
    }

    /// The result of a thread's wait.
    private enum Turn { case job(UnownedJob, Demand), end }

    /// The thread that waiting jobs need.
    private enum Demand { case none, wakeUp, start }

    /// The number of waiting jobs for which another thread runs.
    private static let jobsPerThread = 16

    /// The time after which an idle thread looks again whether jobs wait.
    private static let watchInterval = Duration.milliseconds(10)

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "no key for the executors of threads")
        return key
    }()

    private let name: String
    private let maximumThreadCount: Int
    private let monitor = Monitor(State())

    /// Creates an executor of at most `maximumThreadCount` threads; no thread starts before the first job.
    package init(name: String, maximumThreadCount: Int) {
        self.name = name
        self.maximumThreadCount = max(1, maximumThreadCount)
    }

    deinit {
        monitor.withLock { $0.isClosed = true }
        monitor.broadcast()
    }

    /// The executor whose thread is the calling one; `nil` on any other thread.
    @usableFromInline
    package static var current: BlockingExecutor? {
        pthread_getspecific(key).map { Unmanaged<BlockingExecutor>.fromOpaque($0).takeUnretainedValue() }
    }

    @usableFromInline
    package func enqueue(_ job: consuming ExecutorJob) {
        // The runtime does not hold the executor, whose last task may end as soon as the lock is free.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        let job = UnownedJob(job)
        meet(
            monitor.withLock { state in
                state.jobs.append(job)
                return state.demand(maximumThreadCount: maximumThreadCount)
            }
        )
    }

    private func meet(_ demand: Demand) {
        switch demand {
        case .none: break
        case .wakeUp: monitor.signal()
        case .start: startThread()
        }
    }

    private func startThread() {
        // The tasks that prefer the executor hold it while they run; a thread that waits does not.
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        let executor = asUnownedTaskExecutor()
        Thread.start(name: name) { [monitor, maximumThreadCount, pointer = UInt(bitPattern: pointer)] in
            pthread_setspecific(Self.key, UnsafeRawPointer(bitPattern: pointer))
            while let (job, demand) = Self.next(from: monitor, maximumThreadCount: maximumThreadCount) {
                // The task of the job holds the executor.
                Self.current?.meet(demand)
                job.runSynchronously(on: executor)
            }
        }
    }

    /// Waits for the next job; returns `nil` after the executor was deallocated.
    ///
    /// - Returns: The job, and the thread that the jobs which wait behind it need.
    private static func next(from monitor: Monitor<State>, maximumThreadCount: Int) -> (UnownedJob, Demand)? {
        let next = monitor.withLock { state in
            state.popFirst().map { ($0, state.demand(maximumThreadCount: maximumThreadCount)) }
        }
        if let next { return next }
        while true {
            let isWatching = monitor.withLock { $0.beginIdling() }
            let take = { (state: inout State) -> Turn? in
                let job = state.popFirst()
                guard job != nil || state.isClosed else { return nil }
                state.endIdling(watching: isWatching)
                return job.map { .job($0, state.demand(maximumThreadCount: maximumThreadCount)) } ?? .end
            }
            switch isWatching ? monitor.wait(for: watchInterval, until: take) : monitor.wait(until: take) {
            case .job(let job, let demand): return (job, demand)
            case .end: return nil
            case nil: monitor.withLock { $0.endIdling(watching: isWatching) }
            }
        }
    }
}
