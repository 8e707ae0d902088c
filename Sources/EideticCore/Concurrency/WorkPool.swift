import Glibc

/// A bounded set of threads for work that blocks or computes for long: decoding, file work.
///
/// The cooperative pool of Swift concurrency must stay free for what suspends, so such work runs here. Threads are
/// started when there is work for them. The most urgent job goes first; equal ones in their order of arrival. One whose
/// caller has left goes before all: it takes no time, and would else be looked at again and again. The oldest goes when
/// `patience` others went before it, so that nothing waits for ever.
package final class WorkPool: Sendable {
    private struct Job {
        let context: JobContext
        let run: @Sendable () -> Void
    }

    private struct State {
        var jobs: [Job] = []
        /// How many went before the oldest since it is the oldest.
        var overtakeCount = 0
        var idleThreadCount = 0
        var threadCount = 0
        var isClosed = false
    }

    /// How many jobs may go before the oldest.
    package static let starvationLimit = 256

    private let name: String
    private let maximumThreadCount: Int
    private let monitor = Monitor(State())

    /// Creates a pool of at most `width` threads; none runs before there is work.
    package init(name: String, maximumThreadCount: Int) {
        self.name = name
        self.maximumThreadCount = max(1, maximumThreadCount)
    }

    deinit {
        monitor.withLock { $0.isClosed = true }
        monitor.broadcast()
    }

    /// Jobs that wait for a thread.
    package var waitingJobCount: Int { monitor.withLock { $0.jobs.count } }

    /// Runs `body` on a thread of the pool and gives what it returns or throws.
    ///
    /// - Throws: What `body` throws; `EideticError.cancelled` where the task was cancelled before `body` began.
    package func run<Value: Sendable>(
        in context: JobContext = JobContext(),
        operation body: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let result: Result<Value, EideticError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(in: context) {
                    let outcome: Result<Value, EideticError>
                    do throws(EideticError) {
                        try context.checkCancellation()
                        outcome = .success(try body(context))
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

    /// Runs `body` on a thread of the pool; returns at once.
    package func enqueue(in context: JobContext = JobContext(), operation body: @escaping @Sendable () -> Void) {
        let needsThread = monitor.withLock { state in
            state.jobs.append(Job(context: context, run: body))
            let needsThread = state.idleThreadCount < state.jobs.count && state.threadCount < maximumThreadCount
            if needsThread { state.threadCount += 1 }
            return needsThread
        }
        if needsThread { startThread() } else { monitor.signal() }
    }

    private func startThread() {
        Thread.start(name: name) { [monitor] in
            while let job = Self.dequeue(from: monitor) { job.run() }
        }
    }

    /// Waits for a job; `nil` when the pool is given up.
    ///
    /// A thread counts as idle only while it waits.
    private static func dequeue(from monitor: Monitor<State>) -> Job? {
        var isIdle = false
        let job: Job?? = monitor.wait { state -> Job?? in
            let index =
                state.overtakeCount < starvationLimit || state.jobs.isEmpty ? indexOfMostUrgent(in: state.jobs) : 0
            if index == nil, !state.isClosed {
                if !isIdle { state.idleThreadCount += 1 }
                isIdle = true
                return nil
            }
            if isIdle { state.idleThreadCount -= 1 }
            state.overtakeCount = index == 0 ? 0 : state.overtakeCount + 1
            return .some(index.map { state.jobs.remove(at: $0) })
        }
        return job ?? nil
    }

    private static func indexOfMostUrgent(in jobs: [Job]) -> Int? {
        // From the end, where taking one out moves the fewest others.
        if let cancelled = jobs.lastIndex(where: { $0.context.isCancelled }) { return cancelled }
        var best: Int?
        for index in jobs.indices {
            guard let current = best else { best = index; continue }
            if jobs[index].context.priority > jobs[current].context.priority { best = index }
        }
        return best
    }
}
