/// Coalesces concurrent requests for the same value into one job, identified by its key.
///
/// - The first request for a key starts the job; requests that arrive while it runs join it.
/// - A subscriber leaves when its own task is cancelled; the job is cancelled when its last subscriber leaves.
/// - The job's priority is the highest priority of its subscribers, and changes with theirs.
/// - Every subscriber receives exactly one result. No callback runs while the lock is held.
///
/// Inlinable, so that it is specialised for the keys and values of the module that uses it.
@usableFromInline
package final class TaskCoalescer<Key: Hashable & Sendable, Progress: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    package typealias Outcome = Result<Value, EideticError>

    /// The interface that a running job uses.
    @usableFromInline
    package struct Job: Sendable {
        /// The job's context: cancelled when the last subscriber leaves; its priority follows the subscribers.
        @usableFromInline package let context: JobContext
        /// Reports progress to every subscriber.
        @usableFromInline package let report: @Sendable (Progress) -> Void

        @usableFromInline
        init(context: JobContext, report: @escaping @Sendable (Progress) -> Void) {
            self.context = context
            self.report = report
        }
    }

    /// Ends a job, and returns a function that resumes its subscribers.
    ///
    /// To be called once, on any thread. The returned function may be called a little later, together with those of
    /// other jobs, because resuming a task takes longer than all the rest.
    @usableFromInline
    package typealias Completion = @Sendable (Outcome) -> @Sendable () -> Void

    /// Starts a job on the calling thread, and returns a function that cancels it.
    @usableFromInline
    package typealias StartFunction = @Sendable (_ job: Job, _ finish: @escaping Completion) -> @Sendable () -> Void

    @usableFromInline
    struct State {
        @usableFromInline var activeJobs: [Key: ActiveJob] = [:]
        @usableFromInline var startedCount: UInt64 = 0
        @usableFromInline var joinedCount: UInt64 = 0

        @inlinable
        init() {}
    }

    @usableFromInline let state = Guarded(State())

    @inlinable
    package init() {}

    @inlinable package var activeJobCount: Int { state.withLock { $0.activeJobs.count } }

    /// The number of jobs that were started, and the number of requests that joined a running job.
    @inlinable package var statistics: (started: UInt64, joined: UInt64) {
        state.withLock { ($0.startedCount, $0.joinedCount) }
    }

    /// Joins the job for `key`, or starts it with `start`, and waits for its result.
    ///
    /// The job runs on the calling thread until `start` returns, so that jobs which queue for a resource do so in the
    /// order of the calls; longer work must continue elsewhere.
    ///
    /// - Parameters:
    ///   - key: The identity of the job.
    ///   - context: The caller's own context. The job is as urgent as the most urgent context of its callers.
    ///   - onProgress: Called on the job's thread; must return soon. A caller that joins late receives the latest
    ///     progress at once.
    ///   - start: Starts the job if none is running for `key`.
    /// - Returns: The result of the job.
    /// - Throws: The job's error, and `EideticError.cancelled` as soon as the calling task is cancelled.
    @inlinable
    nonisolated(nonsending) package func value(
        for key: Key,
        context: JobContext,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        start: StartFunction
    ) async throws(EideticError) -> Value {
        let subscriber = join(key, context: context, onProgress: onProgress, start: start)
        await wait(for: subscriber)
        return try subscriber.outcome.get()
    }

    /// Joins the job for `key`, or starts it, without waiting; `wait(for:)` must be called afterwards.
    ///
    /// A separate function that is never inlined, because everything inside an asynchronous function takes memory as
    /// long as the function is suspended: kilobytes, with keys of hundreds of bytes.
    @inlinable
    @inline(never)
    package func join(
        _ key: Key,
        context: JobContext,
        onProgress: (@Sendable (Progress) -> Void)?,
        start: StartFunction
    ) -> Subscriber {
        let subscriber = Subscriber(key: key, context: context, onProgress: onProgress)
        context.addPriorityObserver(subscriber) { [weak self] in self?.updatePriority(for: key) }
        subscribe(subscriber, to: key, start: start)
        return subscriber
    }

    /// Waits for the result of the job that was joined; the subscriber then holds it.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package func wait(for subscriber: Subscriber) async {
        defer { subscriber.context.removePriorityObserver(subscriber) }
        await subscriber.waiter.wait { leave(subscriber.key, as: subscriber) }
    }

    /// Joins the job for `key`, or starts it as an asynchronous function, and waits for its result.
    ///
    /// The function starts on the calling thread and stays there until it first suspends.
    @inlinable
    nonisolated(nonsending) package func value(
        for key: Key,
        context: JobContext,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        operation: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: context, onProgress: onProgress) { job, finish in
            let task = Task.immediateDetached(executorPreference: BlockingExecutor.current) {
                let outcome: Outcome
                do throws(EideticError) {
                    outcome = .success(try await operation(job))
                } catch {
                    outcome = .failure(error)
                }
                finish(outcome)()
            }
            return { task.cancel() }
        }
    }

    /// Joins or starts the job for `key` with a priority that does not change, and waits for its result.
    @inlinable
    nonisolated(nonsending) package func value(
        for key: Key,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        operation: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: JobContext(priority: priority), onProgress: onProgress, operation: operation)
    }

    /// The progress handlers of a job.
    ///
    /// Kept apart from the subscribers: a download reports often, and the table of jobs has one lock for all.
    @usableFromInline
    struct ProgressHandlers {
        @usableFromInline var latestProgress: Progress?
        @usableFromInline var handlers: [ObjectIdentifier: @Sendable (Progress) -> Void] = [:]

        @inlinable
        init() {}

        /// Adds a handler, and returns the latest progress, to be reported to it.
        @inlinable
        mutating func add(_ handler: (@Sendable (Progress) -> Void)?, for id: ObjectIdentifier) -> Progress? {
            if let handler { handlers[id] = handler }
            return latestProgress
        }

        @inlinable
        mutating func remove(for id: ObjectIdentifier) { if !handlers.isEmpty { handlers[id] = nil } }
    }
}

extension TaskCoalescer {
    /// Adds a subscriber to the job for `key`, or starts the job.
    @inlinable
    func subscribe(_ subscriber: Subscriber, to key: Key, start: StartFunction) {
        if Task.isCancelled { return subscriber.complete(with: .failure(.cancelled)) }
        let (newJob, latest) = state.withLock { state -> (ActiveJob?, Progress?) in
            if let job = state.activeJobs[key] {
                state.joinedCount += 1
                return (nil, job.add(subscriber))
            }
            state.startedCount += 1
            let job = ActiveJob(id: state.startedCount, context: JobContext(priority: subscriber.context.priority))
            _ = job.add(subscriber)
            state.activeJobs[key] = job
            return (job, nil)
        }
        if let newJob {
            startJob(for: key, as: newJob, start: start)
        } else {
            updatePriority(for: key, after: subscriber)
        }
        if let latest { subscriber.onProgress?(latest) }
        // A cancellation that preceded the insertion found no subscriber to remove.
        if Task.isCancelled { leave(key, as: subscriber) }
    }

    /// Starts a job; cancels it at once if its last subscriber has left meanwhile.
    @inlinable
    func startJob(for key: Key, as activeJob: ActiveJob, start: StartFunction) {
        let id = activeJob.id
        let job = Job(context: activeJob.context) { activeJob.report($0) }
        let cancel = start(job) { [weak self] in self?.finishJob(for: key, id: id, outcome: $0) ?? {} }
        let isActive = state.withLock { state in
            guard state.activeJobs[key] === activeJob else { return false }
            activeJob.cancel = cancel
            return true
        }
        if !isActive { cancel() }
    }

    /// Removes a job, and returns a function that passes its result to the subscribers.
    @inlinable
    func finishJob(for key: Key, id: UInt64, outcome: Outcome) -> @Sendable () -> Void {
        let waiting = state.withLock { state in
            guard state.activeJobs[key]?.id == id, let job = state.activeJobs.removeValue(forKey: key) else {
                return [Subscriber]()
            }
            job.progressHandlers.withLock { $0.handlers = [:] }
            return job.subscribers.inJoinOrder
        }
        return { for subscriber in waiting { subscriber.complete(with: outcome) } }
    }

    /// Removes a subscriber, and cancels the job if it was the last one.
    @inlinable
    func leave(_ key: Key, as subscriber: Subscriber) {
        let abandoned = state.withLock { state -> ActiveJob? in
            guard let job = state.activeJobs[key], job.remove(subscriber), job.subscribers.isEmpty else { return nil }
            return state.activeJobs.removeValue(forKey: key)
        }
        abandoned?.context.cancel()
        abandoned?.cancel?()
        if abandoned == nil { updatePriority(for: key, after: subscriber) }
        subscriber.complete(with: .failure(.cancelled))
    }

    /// Cancels all jobs; their subscribers get `cancelled` before this function returns.
    ///
    /// - Complexity: O(*n*) in the number of subscribers.
    @inlinable
    package func cancelAll() {
        let jobs = state.withLock { state in
            let jobs = state.activeJobs.values.map { job in
                job.progressHandlers.withLock { $0.handlers = [:] }
                return (context: job.context, cancel: job.cancel, subscribers: job.subscribers.inJoinOrder)
            }
            state.activeJobs = [:]
            return jobs
        }
        for job in jobs {
            job.context.cancel()
            job.cancel?()
            for subscriber in job.subscribers { subscriber.complete(with: .failure(.cancelled)) }
        }
    }

    /// Adjusts the job's priority after a subscriber joined or left.
    ///
    /// Returns early in the common case: the job is as urgent as that subscriber, and another subscriber is, too.
    @inlinable
    func updatePriority(for key: Key, after subscriber: Subscriber) {
        let isMatched = state.withLock { state in
            guard let job = state.activeJobs[key] else { return true }
            // Two callers that join at once find each other in the list, so the job's own priority is checked first.
            guard job.context.priority >= subscriber.context.priority else { return false }
            return job.subscribers.containsAnother(asUrgentAs: subscriber)
        }
        if !isMatched { updatePriority(for: key) }
    }

    /// Sets the job's priority to the highest priority of its subscribers.
    ///
    /// The priority is set without the lock, because that calls observers; the loop repeats until the priority is up to
    /// date.
    @inlinable
    func updatePriority(for key: Key) {
        while let (context, target) = targetPriority(for: key), context.priority != target { context.priority = target }
    }

    @inlinable
    func targetPriority(for key: Key) -> (JobContext, LoadPriority)? {
        state.withLock { state in
            guard let job = state.activeJobs[key] else { return nil }
            return job.subscribers.highestPriority.map { (job.context, $0) }
        }
    }
}
