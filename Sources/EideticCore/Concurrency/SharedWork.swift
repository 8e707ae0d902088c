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

    private struct Running {
        let id: UInt64
        let context: WorkContext
        var task: Task<Void, Never>?
        let listeners = Listeners()
        var subscribers: [ObjectIdentifier: Subscriber]
    }

    private struct State {
        var running: [Key: Running] = [:]
        var started: UInt64 = 0
        var joined: UInt64 = 0
    }

    private let state = Guarded(State())

    package init() {}

    /// Jobs that run now.
    package var count: Int { state.withLock { $0.running.count } }

    /// How many jobs were started, and how many callers joined one that ran already.
    package var statistics: (started: UInt64, joined: UInt64) { state.withLock { ($0.started, $0.joined) } }

    /// Joins the job for `key`, or starts it with `work`, and waits for its outcome.
    ///
    /// `context` is the caller's own: the job is as urgent as the most urgent of its callers' contexts. `onProgress`
    /// is called by the job's thread and must return soon; who joins late is told the latest progress at once.
    /// Throws what the job throws, and `EideticError.cancelled` as soon as the calling task is cancelled.
    ///
    /// The job begins on the calling thread and stays there until it first suspends, so that jobs which queue for something
    /// do so in the order of the calls. What takes long it must do elsewhere.
    nonisolated(nonsending) package func value(
        for key: Key,
        context: WorkContext,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let subscriber = Subscriber(context: context, onProgress: onProgress)
        context.observePriority(subscriber) { [weak self] in self?.updatePriority(key) }
        defer { context.stopObserving(subscriber) }
        // Before the first suspension, and so on the caller's own thread.
        subscribe(subscriber, to: key, work: work)
        let outcome: Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { subscriber.wait($0) }
        } onCancel: {
            leave(key, subscriber)
        }
        return try outcome.get()
    }

    /// Joins or starts the job with a priority that does not change.
    nonisolated(nonsending) package func value(
        for key: Key,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: WorkContext(priority: priority), onProgress: onProgress, work: work)
    }
}

extension SharedWork {
    /// Who wants to know how far a job is.
    ///
    /// Apart from the table of jobs, since a download reports often, and finding a job by its key takes long.
    private final class Listeners: Sendable {
        private struct State {
            var latest: Progress?
            var handlers: [ObjectIdentifier: @Sendable (Progress) -> Void] = [:]
        }

        private let state = Guarded(State())

        /// Adds a listener; gives the latest progress, to be told to it.
        func add(_ handler: (@Sendable (Progress) -> Void)?, _ id: ObjectIdentifier) -> Progress? {
            state.withLock { state in
                state.handlers[id] = handler
                return state.latest
            }
        }

        func remove(_ id: ObjectIdentifier) { state.withLock { $0.handlers[id] = nil } }

        func removeAll() { state.withLock { $0.handlers = [:] } }

        func report(_ progress: Progress) {
            let handlers = state.withLock { state in
                state.latest = progress
                return state.handlers
            }
            for handler in handlers.values { handler(progress) }
        }
    }

    /// One who waits: answered exactly once, by whoever comes first – the job or the caller's cancellation.
    private final class Subscriber: Sendable {
        let context: WorkContext
        let onProgress: (@Sendable (Progress) -> Void)?
        private let state = Guarded((waiting: CheckedContinuation<Outcome, Never>?.none, outcome: Outcome?.none))

        init(context: WorkContext, onProgress: (@Sendable (Progress) -> Void)?) {
            self.context = context
            self.onProgress = onProgress
        }

        /// Waits for the answer, which may have come already.
        func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }

        func answer(_ outcome: Outcome) {
            let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
                guard state.outcome == nil else { return nil }
                state.outcome = outcome
                return state.waiting
            }
            waiting?.resume(returning: outcome)
        }
    }

    private func subscribe(
        _ subscriber: Subscriber,
        to key: Key,
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) {
        if Task.isCancelled { return subscriber.answer(.failure(.cancelled)) }
        let id = ObjectIdentifier(subscriber)
        let (newJob, latest) = state.withLock { state -> (Running?, Progress?) in
            if let job = state.running[key] {
                state.joined += 1
                state.running[key]?.subscribers[id] = subscriber
                return (nil, job.listeners.add(subscriber.onProgress, id))
            }
            state.started += 1
            let context = WorkContext(priority: subscriber.context.priority)
            let job = Running(id: state.started, context: context, subscribers: [id: subscriber])
            _ = job.listeners.add(subscriber.onProgress, id)
            state.running[key] = job
            return (job, nil)
        }
        if let newJob { start(key, newJob, work) } else { updatePriority(key) }
        if let latest { subscriber.onProgress?(latest) }
        // A cancellation that came before the subscriber was in the table found nobody to remove.
        if Task.isCancelled { leave(key, subscriber) }
    }

    private func start(
        _ key: Key,
        _ running: Running,
        _ work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) {
        let id = running.id
        let job = Job(context: running.context) { [listeners = running.listeners] in listeners.report($0) }
        let task = Task.immediateDetached { [weak self] in
            let outcome: Outcome
            do throws(EideticError) {
                outcome = .success(try await work(job))
            } catch {
                outcome = .failure(error)
            }
            self?.finish(key, id, outcome)
        }
        let isStillWanted = state.withLock { state in
            guard state.running[key]?.id == id else { return false }
            state.running[key]?.task = task
            return true
        }
        if !isStillWanted { task.cancel() }
    }

    private func finish(_ key: Key, _ id: UInt64, _ outcome: Outcome) {
        let waiting = state.withLock { state in
            guard let job = state.running[key], job.id == id else { return [Subscriber]() }
            state.running[key] = nil
            job.listeners.removeAll()
            return Array(job.subscribers.values)
        }
        for subscriber in waiting { subscriber.answer(outcome) }
    }

    private func leave(_ key: Key, _ subscriber: Subscriber) {
        let abandoned = state.withLock { state -> Running? in
            guard state.running[key]?.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) != nil,
                let job = state.running[key]
            else { return nil }
            job.listeners.remove(ObjectIdentifier(subscriber))
            guard job.subscribers.isEmpty else { return nil }
            state.running[key] = nil
            return job
        }
        abandoned?.context.cancel()
        abandoned?.task?.cancel()
        if abandoned == nil { updatePriority(key) }
        subscriber.answer(.failure(.cancelled))
    }

    /// Makes the job as urgent as its most urgent subscriber.
    ///
    /// The priority is set outside the lock, because observers are called; so it is looked at again until it is right.
    private func updatePriority(_ key: Key) {
        while let (context, wanted) = wantedPriority(key), context.priority != wanted { context.priority = wanted }
    }

    private func wantedPriority(_ key: Key) -> (WorkContext, LoadPriority)? {
        state.withLock { state in
            guard let job = state.running[key] else { return nil }
            return job.subscribers.values.map(\.context.priority).max().map { (job.context, $0) }
        }
    }
}
