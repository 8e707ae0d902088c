/// Work that all who want the same thing share: the unit is a job with a full identity, its key.
///
/// - The first who asks starts the job; those who come while it runs join it.
/// - Each can leave by cancelling its own task; the last one out cancels the job.
/// - The job's priority is the highest of those who wait for it, and changes live.
/// - Every caller gets exactly one answer. No callback is made under the lock.
///
/// Inlinable, so that it is specialised for the keys and values of the module that uses it.
@usableFromInline
package final class TaskCoalescer<Key: Hashable & Sendable, Progress: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    package typealias Outcome = Result<Value, EideticError>

    /// What the running job can say and ask.
    @usableFromInline
    package struct Job: Sendable {
        /// Cancelled when the last one left; its priority follows the subscribers.
        @usableFromInline package let context: JobContext
        /// Tells every subscriber how far the job is.
        @usableFromInline package let report: @Sendable (Progress) -> Void

        @usableFromInline
        init(context: JobContext, report: @escaping @Sendable (Progress) -> Void) {
            self.context = context
            self.report = report
        }
    }

    /// Ends a job, and gives what answers those who wait for it.
    ///
    /// To be called once, on any thread; what it gives may be called a little later, together with that of other jobs:
    /// to wake somebody takes longer than the rest.
    @usableFromInline
    package typealias Completion = @Sendable (Outcome) -> @Sendable () -> Void

    /// Begins a job on the calling thread, and gives what ends it early.
    @usableFromInline
    package typealias StartFunction = @Sendable (_ job: Job, _ finish: @escaping Completion) -> @Sendable () -> Void

    /// A job and those who wait for it.
    ///
    /// Safe to send: `cancel` and `subscribers` are touched with the table of jobs locked only.
    @usableFromInline
    final class ActiveJob: @unchecked Sendable {
        @usableFromInline let id: UInt64
        @usableFromInline let context: JobContext
        @usableFromInline var cancel: (@Sendable () -> Void)?
        @usableFromInline let progressHandlers = Guarded(ProgressHandlers())
        @usableFromInline var subscribers = SubscriberList()

        @inlinable
        init(id: UInt64, context: JobContext) {
            self.id = id
            self.context = context
        }

        /// Adds one who waits; gives the latest progress, to be told to it.
        @inlinable
        func add(_ subscriber: Subscriber) -> Progress? {
            subscribers.add(subscriber)
            return progressHandlers.withLock { $0.add(subscriber.onProgress, for: ObjectIdentifier(subscriber)) }
        }

        /// Takes one out; false where it is not there.
        @inlinable
        func remove(_ subscriber: Subscriber) -> Bool {
            progressHandlers.withLock { $0.remove(for: ObjectIdentifier(subscriber)) }
            return subscribers.remove(subscriber)
        }

        /// Tells everybody how far the job is.
        @inlinable
        func report(_ progress: Progress) {
            let handlers = progressHandlers.withLock { listeners in
                listeners.latestProgress = progress
                return listeners.handlers
            }
            if handlers.isEmpty { return }
            for handler in handlers.values { handler(progress) }
        }
    }

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

    /// Jobs that run now.
    @inlinable package var activeJobCount: Int { state.withLock { $0.activeJobs.count } }

    /// How many jobs were started, and how many callers joined one that ran already.
    @inlinable package var statistics: (started: UInt64, joined: UInt64) {
        state.withLock { ($0.startedCount, $0.joinedCount) }
    }

    /// Joins the job for `key`, or starts it with `begin`, and waits for its outcome.
    ///
    /// `context` is the caller's own: the job is as urgent as the most urgent of its callers' contexts. `onProgress`
    /// is called by the job's thread and must return soon; who joins late is told the latest progress at once.
    /// Throws what the job throws, and `EideticError.cancelled` as soon as the calling task is cancelled.
    ///
    /// The job begins on the calling thread, so that jobs which queue for something do so in the order of the calls. What
    /// takes long it must do elsewhere.
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

    /// Joins the job for `key`, or starts it, without waiting; `wait(for:)` must then be called.
    ///
    /// A function of its own, and never inlined, since whatever stands in an asynchronous one takes memory as long as it
    /// waits: kilobytes, with keys of hundreds of bytes.
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

    /// Waits for what comes of the job that was joined: then the subscriber has it.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package func wait(for subscriber: Subscriber) async {
        defer { subscriber.context.removePriorityObserver(subscriber) }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { subscriber.suspend($0) }
        } onCancel: {
            leave(subscriber.key, as: subscriber)
        }
    }

    /// Joins or starts a job that is an asynchronous function.
    ///
    /// It begins on the calling thread and stays there until it first suspends.
    @inlinable
    nonisolated(nonsending) package func value(
        for key: Key,
        context: JobContext,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        operation: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: context, onProgress: onProgress) { job, finish in
            let task = Task.immediateDetached {
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

    /// Joins or starts the job with a priority that does not change.
    @inlinable
    nonisolated(nonsending) package func value(
        for key: Key,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        operation: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: JobContext(priority: priority), onProgress: onProgress, operation: operation)
    }
}

extension TaskCoalescer {
    /// Who wants to know how far a job is.
    ///
    /// Apart from those who wait, since a download reports often, and the table of jobs is everybody's.
    @usableFromInline
    struct ProgressHandlers {
        @usableFromInline var latestProgress: Progress?
        @usableFromInline var handlers: [ObjectIdentifier: @Sendable (Progress) -> Void] = [:]

        @inlinable
        init() {}

        /// Adds a listener; gives the latest progress, to be told to it.
        @inlinable
        mutating func add(_ handler: (@Sendable (Progress) -> Void)?, for id: ObjectIdentifier) -> Progress? {
            if let handler { handlers[id] = handler }
            return latestProgress
        }

        @inlinable
        mutating func remove(for id: ObjectIdentifier) { if !handlers.isEmpty { handlers[id] = nil } }
    }

    /// One who waits: answered exactly once, by whoever comes first – the job or the caller's cancellation.
    @usableFromInline
    package final class Subscriber: Sendable {
        @usableFromInline
        enum State {
            case initial
            case waiting(UnsafeContinuation<Void, Never>)
            case completed(Outcome)

            @inlinable var isCompleted: Bool { if case .completed = self { true } else { false } }
        }

        /// What was asked for.
        @usableFromInline package let key: Key
        @usableFromInline let context: JobContext
        @usableFromInline let onProgress: (@Sendable (Progress) -> Void)?
        @usableFromInline let state = Guarded(State.initial)

        @inlinable
        init(key: Key, context: JobContext, onProgress: (@Sendable (Progress) -> Void)?) {
            self.key = key
            self.context = context
            self.onProgress = onProgress
        }

        /// Waits for the answer, which may have come already.
        @inlinable
        func suspend(_ continuation: UnsafeContinuation<Void, Never>) {
            let isAnswered = state.withLock { state in
                if case .completed = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isAnswered { continuation.resume() }
        }

        /// The answer, which must have come.
        ///
        /// It stays here, and does not go through the continuation: what an asynchronous function waits for has its place
        /// in the memory that the function keeps.
        @inlinable package var outcome: Outcome {
            state.withLock { state in
                guard case .completed(let outcome) = state else { preconditionFailure("nobody has answered") }
                return outcome
            }
        }

        /// Gives the answer; no effect where there was one before.
        @inlinable
        func complete(with outcome: Outcome) {
            let waiting = state.withLock { state -> UnsafeContinuation<Void, Never>? in
                defer { if !state.isCompleted { state = .completed(outcome) } }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume()
        }
    }

    @inlinable
    func subscribe(_ subscriber: Subscriber, to key: Key, start begin: StartFunction) {
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
            startJob(for: key, as: newJob, start: begin)
        } else {
            updatePriority(for: key, after: subscriber)
        }
        if let latest { subscriber.onProgress?(latest) }
        // A cancellation that came before the subscriber was in the table found nobody to remove.
        if Task.isCancelled { leave(key, as: subscriber) }
    }

    @inlinable
    func startJob(for key: Key, as running: ActiveJob, start begin: StartFunction) {
        let id = running.id
        let job = Job(context: running.context) { running.report($0) }
        let cancel = begin(job) { [weak self] in self?.finishJob(for: key, id: id, outcome: $0) ?? {} }
        let isStillWanted = state.withLock { state in
            guard state.activeJobs[key] === running else { return false }
            running.cancel = cancel
            return true
        }
        if !isStillWanted { cancel() }
    }

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

    /// Makes the job as urgent as its most urgent subscriber after one came or left.
    ///
    /// Where the job is as urgent as that one, and so is another, nothing has changed, and that is soon found.
    @inlinable
    func updatePriority(for key: Key, after subscriber: Subscriber) {
        let isMatched = state.withLock { state in
            guard let job = state.activeJobs[key] else { return true }
            // Of two who join at once each finds the other: neither may rely on it.
            guard job.context.priority >= subscriber.context.priority else { return false }
            return job.subscribers.containsAnother(asUrgentAs: subscriber)
        }
        if !isMatched { updatePriority(for: key) }
    }

    /// Makes the job as urgent as its most urgent subscriber.
    ///
    /// The priority is set outside the lock, because observers are called; so it is looked at again until it is right.
    @inlinable
    func updatePriority(for key: Key) {
        while let (context, wanted) = targetPriority(for: key), context.priority != wanted { context.priority = wanted }
    }

    @inlinable
    func targetPriority(for key: Key) -> (JobContext, LoadPriority)? {
        state.withLock { state in
            guard let job = state.activeJobs[key] else { return nil }
            return job.subscribers.highestPriority.map { (job.context, $0) }
        }
    }
}
