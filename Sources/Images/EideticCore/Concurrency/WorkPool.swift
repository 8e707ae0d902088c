import Glibc

/// A pool of a bounded number of threads for blocking or long-running work: decoding and file access.
///
/// The cooperative pool of Swift concurrency must not block, so such work runs here. Threads start on demand. The most
/// urgent job runs first; equally urgent jobs run in order of arrival. Cancelled jobs are dequeued before all others,
/// because they end at once and would otherwise be examined again and again. A continuation of work that has run runs
/// before what is equally urgent, because it holds memory. The oldest job runs after `starvationLimit` other jobs have
/// overtaken it, so that no job waits for ever.
package final class WorkPool: Sendable {
    private struct Job {
        let context: JobContext
        let isContinuation: Bool
        let run: @Sendable () -> Void

        /// Returns whether the job runs before an older one.
        func isMoreUrgent(than older: Job) -> Bool {
            let (own, other) = (context.priority, older.context.priority)
            return own > other || own == other && isContinuation && !older.isContinuation
        }
    }

    private struct State {
        var jobs: [Job] = []
        /// The number of jobs that have overtaken the oldest one.
        var overtakeCount = 0
        var idleThreadCount = 0
        var threadCount = 0
        /// The number of jobs that run, and of those among them that wait for another process.
        var runningCount = 0
        var pausedCount = 0
        var isClosed = false

        /// A Boolean value indicating whether another job may run.
        func isFree(of maximum: Int) -> Bool { runningCount - pausedCount < maximum }
    }

    /// The number of jobs that may overtake the oldest one.
    package static let starvationLimit = 256

    private let name: String
    private let maximumThreadCount: Int
    private let isForFiles: Bool
    private let time: any TimeSource
    private let monitor = Monitor(State())

    /// Creates a pool of at most `maximumThreadCount` threads; no thread starts before the first job.
    ///
    /// A thread of a ``BlockingExecutor`` does the work of a pool for files itself.
    package init(
        name: String,
        maximumThreadCount: Int,
        isForFiles: Bool = false,
        time: any TimeSource = SystemTime()
    ) {
        self.name = name
        self.isForFiles = isForFiles
        self.time = time
        self.maximumThreadCount = max(1, maximumThreadCount)
    }

    deinit {
        monitor.withLock { $0.isClosed = true }
        monitor.broadcast()
    }

    package var waitingJobCount: Int { monitor.withLock { $0.jobs.count } }
    package var idleThreadCount: Int { monitor.withLock { $0.idleThreadCount } }

    /// Runs `operation` on a thread of the pool and returns its result.
    ///
    /// - Throws: The error that `operation` throws; `EideticError.cancelled` if the task is cancelled before it starts.
    nonisolated(nonsending) package func run<Value: Sendable>(
        in context: JobContext = JobContext(),
        isContinuation: Bool = false,
        operation: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        if isForFiles, BlockingExecutor.current != nil {
            if Task.isCancelled { throw .cancelled }
            try context.checkCancellation()
            return try operation(context)
        }
        let start = time.uptime
        let result: Result<Value, EideticError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(in: context, isContinuation: isContinuation) { [time] in
                    context.addWaitingTime(time.uptime - start)
                    let outcome: Result<Value, EideticError>
                    do throws(EideticError) {
                        try context.checkCancellation()
                        outcome = .success(try operation(context))
                    } catch {
                        outcome = .failure(error)
                    }
                    continuation.resume(returning: outcome)
                }
            }
        } onCancel: {
            context.cancel()
        }
        return try result.get()
    }

    /// Queues `operation` for a thread of the pool, and returns immediately.
    package func enqueue(
        in context: JobContext = JobContext(),
        isContinuation: Bool = false,
        operation: @escaping @Sendable () -> Void
    ) {
        provideThread { $0.jobs.append(Job(context: context, isContinuation: isContinuation, run: operation)) }
    }

    /// Changes the state, and starts or wakes a thread for it.
    private func provideThread(after change: (inout State) -> Void) {
        let needsThread = monitor.withLock { state in
            change(&state)
            let needsThread =
                state.idleThreadCount < state.jobs.count
                && state.threadCount < maximumThreadCount + state.pausedCount
            if needsThread { state.threadCount += 1 }
            return needsThread
        }
        if needsThread { startThread() } else { monitor.signal() }
    }

    /// Lets another job run beside the calling one, which only waits, until ``endPause()``; each calls for a thread.
    ///
    /// For threads of the pool whose job waits for another process.
    package func beginPause() { provideThread { $0.pausedCount += 1 } }

    /// Ends what ``beginPause()`` has begun.
    package func endPause() { monitor.withLock { $0.pausedCount -= 1 } }

    private func startThread() {
        Thread.start(name: name) { [monitor, maximumThreadCount] in
            var hasRun = false
            while let job = Self.dequeue(from: monitor, maximum: maximumThreadCount, afterJob: hasRun) {
                job.run()
                hasRun = true
            }
        }
    }

    /// Waits for the next job; returns `nil` after the pool was deallocated.
    ///
    /// A thread counts as idle only while it waits.
    private static func dequeue(from monitor: Monitor<State>, maximum: Int, afterJob: Bool) -> Job? {
        var isIdle = false
        var isRunning = afterJob
        let job: Job?? = monitor.wait { state -> Job?? in
            if isRunning { state.runningCount -= 1 }
            isRunning = false
            var index: Int?
            if state.isFree(of: maximum) || state.isClosed, !state.jobs.isEmpty {
                index = state.overtakeCount < starvationLimit ? indexOfMostUrgent(in: state.jobs) : 0
            }
            if index == nil, !state.isClosed {
                if !isIdle { state.idleThreadCount += 1 }
                isIdle = true
                return nil
            }
            if isIdle { state.idleThreadCount -= 1 }
            state.overtakeCount = index == 0 ? 0 : state.overtakeCount + 1
            if index != nil { state.runningCount += 1 }
            return .some(index.map { state.jobs.remove(at: $0) })
        }
        return job ?? nil
    }

    private static func indexOfMostUrgent(in jobs: [Job]) -> Int? {
        // Searched from the end, where a removal moves the fewest elements.
        if let cancelled = jobs.lastIndex(where: { $0.context.isCancelled }) { return cancelled }
        var best: Int?
        for index in jobs.indices {
            guard let current = best else { best = index; continue }
            if jobs[index].isMoreUrgent(than: jobs[current]) { best = index }
        }
        return best
    }
}
