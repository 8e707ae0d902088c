/// Work that all who want the same thing share: the unit is a job with a full identity, its key.
///
/// - The first who asks starts the job; those who come while it runs join it.
/// - Each can leave by cancelling its own task; the last one out cancels the job.
/// - The job's priority is the highest of those who wait for it, and changes live.
/// - Every caller gets exactly one answer. No callback is made under the lock.
package final class SharedWork<Key: Hashable & Sendable, Progress: Sendable, Value: Sendable>: Sendable {
    package typealias Outcome = Result<Value, EideticError>

    /// What the running job can say and ask.
    package struct Job: Sendable {
        /// Cancelled when the last one left; its priority follows the subscribers.
        package let context: WorkContext
        /// Tells every subscriber how far the job is.
        package let report: @Sendable (Progress) -> Void
    }

    private struct Subscriber {
        let priority: LoadPriority
        let onProgress: (@Sendable (Progress) -> Void)?
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct Running {
        let id: UInt64
        let context: WorkContext
        var task: Task<Void, Never>?
        var subscribers: [UInt64: Subscriber] = [:]

        mutating func updatePriority() {
            if let highest = subscribers.values.map(\.priority).max() { context.priority = highest }
        }
    }

    private struct State {
        var running: [Key: Running] = [:]
        var lastID: UInt64 = 0
        var started = 0
        var joined = 0

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    private let state = Guarded(State())

    package init() {}

    /// Jobs that run now.
    package var count: Int { state.withLock { $0.running.count } }

    /// How many jobs were started, and how many callers joined one that ran already.
    package var statistics: (started: Int, joined: Int) { state.withLock { ($0.started, $0.joined) } }

    /// Joins the job for `key`, or starts it with `work`, and waits for its outcome.
    ///
    /// - Parameter onProgress: Called by the job's thread; it must return soon.
    /// - Throws: What the job throws; `EideticError.cancelled` as soon as the calling task is cancelled.
    package func value(
        for key: Key,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let subscriberID = state.withLock { $0.nextID() }
        let outcome: Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let subscriber = Subscriber(priority: priority, onProgress: onProgress, continuation: continuation)
                subscribe(subscriber, id: subscriberID, to: key, work: work)
            }
        } onCancel: {
            leave(key, subscriberID)
        }
        return try outcome.get()
    }

    /// Raises or lowers the job for `key` whatever its subscribers asked for; no effect where none runs.
    package func setPriority(_ priority: LoadPriority, for key: Key) {
        state.withLock { $0.running[key]?.context.priority = priority }
    }

    private func subscribe(
        _ subscriber: Subscriber,
        id: UInt64,
        to key: Key,
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) {
        if Task.isCancelled {
            subscriber.continuation.resume(returning: .failure(.cancelled))
            return
        }
        let newJob: (id: UInt64, context: WorkContext)? = state.withLock { state in
            if state.running[key] != nil {
                state.joined += 1
                state.running[key]?.subscribers[id] = subscriber
                state.running[key]?.updatePriority()
                return nil
            }
            state.started += 1
            let job = Running(
                id: state.nextID(),
                context: WorkContext(priority: subscriber.priority),
                subscribers: [id: subscriber]
            )
            state.running[key] = job
            return (job.id, job.context)
        }
        if let newJob { start(key, newJob.id, newJob.context, work) }
        // A cancellation that came before the subscriber was in the table found nobody to remove.
        if Task.isCancelled { leave(key, id) }
    }

    private func start(
        _ key: Key,
        _ jobID: UInt64,
        _ context: WorkContext,
        _ work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) {
        let job = Job(context: context) { [weak self] progress in self?.report(progress, key, jobID) }
        let task = Task.detached { [weak self] in
            let outcome: Outcome
            do throws(EideticError) {
                outcome = .success(try await work(job))
            } catch {
                outcome = .failure(error)
            }
            self?.finish(key, jobID, outcome)
        }
        let isStillWanted = state.withLock { state in
            guard state.running[key]?.id == jobID else { return false }
            state.running[key]?.task = task
            return true
        }
        if !isStillWanted { task.cancel() }
    }

    private func report(_ progress: Progress, _ key: Key, _ jobID: UInt64) {
        let handlers = state.withLock { state in
            guard let job = state.running[key], job.id == jobID else { return [@Sendable (Progress) -> Void]() }
            return job.subscribers.values.compactMap(\.onProgress)
        }
        for handler in handlers { handler(progress) }
    }

    private func finish(_ key: Key, _ jobID: UInt64, _ outcome: Outcome) {
        let waiting = state.withLock { state in
            guard let job = state.running[key], job.id == jobID else { return [Subscriber]() }
            state.running[key] = nil
            return Array(job.subscribers.values)
        }
        for subscriber in waiting { subscriber.continuation.resume(returning: outcome) }
    }

    private func leave(_ key: Key, _ subscriberID: UInt64) {
        let (left, abandoned) = state.withLock { state -> (Subscriber?, Running?) in
            let left = state.running[key]?.subscribers.removeValue(forKey: subscriberID)
            guard left != nil, let job = state.running[key] else { return (left, nil) }
            if job.subscribers.isEmpty {
                state.running[key] = nil
                return (left, job)
            }
            state.running[key]?.updatePriority()
            return (left, nil)
        }
        abandoned?.context.cancel()
        abandoned?.task?.cancel()
        left?.continuation.resume(returning: .failure(.cancelled))
    }
}
