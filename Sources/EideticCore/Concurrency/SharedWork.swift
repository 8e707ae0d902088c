/// Work that all who want the same thing share: the unit is a job with a full identity, its key.
///
/// - The first who asks starts the job; those who come while it runs join it.
/// - Each can leave by cancelling its own task; the last one out cancels the job.
/// - The job's priority is the highest of those who wait for it, and changes live.
/// - Every caller gets exactly one answer. No callback is made under the lock.
///
/// Inlinable, so that it is specialised for the keys and values of the module that uses it.
@usableFromInline
package final class SharedWork<Key: Hashable & Sendable, Progress: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    package typealias Outcome = Result<Value, EideticError>

    /// What the running job can say and ask.
    @usableFromInline
    package struct Job: Sendable {
        /// Cancelled when the last one left; its priority follows the subscribers.
        @usableFromInline package let context: WorkContext
        /// Tells every subscriber how far the job is.
        @usableFromInline package let report: @Sendable (Progress) -> Void

        @usableFromInline
        init(context: WorkContext, report: @escaping @Sendable (Progress) -> Void) {
            self.context = context
            self.report = report
        }
    }

    /// Ends a job, and gives what answers those who wait for it.
    ///
    /// To be called once, on any thread; what it gives may be called a little later, together with that of other jobs:
    /// to wake somebody takes longer than the rest.
    @usableFromInline
    package typealias Finish = @Sendable (Outcome) -> @Sendable () -> Void

    /// Begins a job on the calling thread, and gives what ends it early.
    @usableFromInline
    package typealias Beginning = @Sendable (_ job: Job, _ finish: @escaping Finish) -> @Sendable () -> Void

    /// A job and those who wait for it.
    ///
    /// Safe to send: `cancel` and `subscribers` are touched with the table of jobs locked only.
    @usableFromInline
    final class Running: @unchecked Sendable {
        @usableFromInline let id: UInt64
        @usableFromInline let context: WorkContext
        @usableFromInline var cancel: (@Sendable () -> Void)?
        @usableFromInline let listeners = Guarded(Listeners())
        @usableFromInline var subscribers = Subscribers()

        @inlinable
        init(id: UInt64, context: WorkContext) {
            self.id = id
            self.context = context
        }

        /// Adds one who waits; gives the latest progress, to be told to it.
        @inlinable
        func add(_ subscriber: Subscriber) -> Progress? {
            subscribers.add(subscriber)
            return listeners.withLock { $0.add(subscriber.onProgress, ObjectIdentifier(subscriber)) }
        }

        /// Takes one out; false where it is not there.
        @inlinable
        func remove(_ subscriber: Subscriber) -> Bool {
            listeners.withLock { $0.remove(ObjectIdentifier(subscriber)) }
            return subscribers.remove(subscriber)
        }

        /// Tells everybody how far the job is.
        @inlinable
        func report(_ progress: Progress) {
            let handlers = listeners.withLock { listeners in
                listeners.latest = progress
                return listeners.handlers
            }
            if handlers.isEmpty { return }
            for handler in handlers.values { handler(progress) }
        }
    }

    @usableFromInline
    struct State {
        @usableFromInline var running: [Key: Running] = [:]
        @usableFromInline var started: UInt64 = 0
        @usableFromInline var joined: UInt64 = 0

        @inlinable
        init() {}
    }

    @usableFromInline let state = Guarded(State())

    @inlinable
    package init() {}

    /// Jobs that run now.
    @inlinable package var count: Int { state.withLock { $0.running.count } }

    /// How many jobs were started, and how many callers joined one that ran already.
    @inlinable package var statistics: (started: UInt64, joined: UInt64) {
        state.withLock { ($0.started, $0.joined) }
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
        context: WorkContext,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        begin: Beginning
    ) async throws(EideticError) -> Value {
        let subscriber = join(key, context: context, onProgress: onProgress, begin: begin)
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
        context: WorkContext,
        onProgress: (@Sendable (Progress) -> Void)?,
        begin: Beginning
    ) -> Subscriber {
        let subscriber = Subscriber(key: key, context: context, onProgress: onProgress)
        context.observePriority(subscriber) { [weak self] in self?.updatePriority(key) }
        subscribe(subscriber, to: key, begin)
        return subscriber
    }

    /// Waits for what comes of the job that was joined: then the subscriber has it.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package func wait(for subscriber: Subscriber) async {
        defer { subscriber.context.stopObserving(subscriber) }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { subscriber.wait($0) }
        } onCancel: {
            leave(subscriber.key, subscriber)
        }
    }

    /// Joins or starts a job that is an asynchronous function.
    ///
    /// It begins on the calling thread and stays there until it first suspends.
    @inlinable
    nonisolated(nonsending) package func value(
        for key: Key,
        context: WorkContext,
        onProgress: (@Sendable (Progress) -> Void)? = nil,
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: context, onProgress: onProgress) { job, finish in
            let task = Task.immediateDetached {
                let outcome: Outcome
                do throws(EideticError) {
                    outcome = .success(try await work(job))
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
        work: @escaping @Sendable (Job) async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await value(for: key, context: WorkContext(priority: priority), onProgress: onProgress, work: work)
    }
}

extension SharedWork {
    /// Who wants to know how far a job is.
    ///
    /// Apart from those who wait, since a download reports often, and the table of jobs is everybody's.
    @usableFromInline
    struct Listeners {
        @usableFromInline var latest: Progress?
        @usableFromInline var handlers: [ObjectIdentifier: @Sendable (Progress) -> Void] = [:]

        @inlinable
        init() {}

        /// Adds a listener; gives the latest progress, to be told to it.
        @inlinable
        mutating func add(_ handler: (@Sendable (Progress) -> Void)?, _ id: ObjectIdentifier) -> Progress? {
            if let handler { handlers[id] = handler }
            return latest
        }

        @inlinable
        mutating func remove(_ id: ObjectIdentifier) { if !handlers.isEmpty { handlers[id] = nil } }
    }

    /// One who waits: answered exactly once, by whoever comes first – the job or the caller's cancellation.
    @usableFromInline
    package final class Subscriber: Sendable {
        @usableFromInline
        enum State {
            case begun
            case waiting(UnsafeContinuation<Void, Never>)
            case answered(Outcome)

            @inlinable var isAnswered: Bool { if case .answered = self { true } else { false } }
        }

        /// What was asked for.
        @usableFromInline package let key: Key
        @usableFromInline let context: WorkContext
        @usableFromInline let onProgress: (@Sendable (Progress) -> Void)?
        @usableFromInline let state = Guarded(State.begun)

        @inlinable
        init(key: Key, context: WorkContext, onProgress: (@Sendable (Progress) -> Void)?) {
            self.key = key
            self.context = context
            self.onProgress = onProgress
        }

        /// Waits for the answer, which may have come already.
        @inlinable
        func wait(_ continuation: UnsafeContinuation<Void, Never>) {
            let isAnswered = state.withLock { state in
                if case .answered = state { return true }
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
                guard case .answered(let outcome) = state else { preconditionFailure("nobody has answered") }
                return outcome
            }
        }

        /// Gives the answer; no effect where there was one before.
        @inlinable
        func answer(_ outcome: Outcome) {
            let waiting = state.withLock { state -> UnsafeContinuation<Void, Never>? in
                defer { if !state.isAnswered { state = .answered(outcome) } }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume()
        }
    }

    @inlinable
    func subscribe(_ subscriber: Subscriber, to key: Key, _ begin: Beginning) {
        if Task.isCancelled { return subscriber.answer(.failure(.cancelled)) }
        let (newJob, latest) = state.withLock { state -> (Running?, Progress?) in
            if let job = state.running[key] {
                state.joined += 1
                return (nil, job.add(subscriber))
            }
            state.started += 1
            let job = Running(id: state.started, context: WorkContext(priority: subscriber.context.priority))
            _ = job.add(subscriber)
            state.running[key] = job
            return (job, nil)
        }
        if let newJob { start(key, newJob, begin) } else { updatePriority(key, after: subscriber) }
        if let latest { subscriber.onProgress?(latest) }
        // A cancellation that came before the subscriber was in the table found nobody to remove.
        if Task.isCancelled { leave(key, subscriber) }
    }

    @inlinable
    func start(_ key: Key, _ running: Running, _ begin: Beginning) {
        let id = running.id
        let job = Job(context: running.context) { running.report($0) }
        let cancel = begin(job) { [weak self] in self?.finish(key, id, $0) ?? {} }
        let isStillWanted = state.withLock { state in
            guard state.running[key] === running else { return false }
            running.cancel = cancel
            return true
        }
        if !isStillWanted { cancel() }
    }

    @inlinable
    func finish(_ key: Key, _ id: UInt64, _ outcome: Outcome) -> @Sendable () -> Void {
        let waiting = state.withLock { state in
            guard state.running[key]?.id == id, let job = state.running.removeValue(forKey: key) else {
                return [Subscriber]()
            }
            job.listeners.withLock { $0.handlers = [:] }
            return job.subscribers.inOrder
        }
        return { for subscriber in waiting { subscriber.answer(outcome) } }
    }

    @inlinable
    func leave(_ key: Key, _ subscriber: Subscriber) {
        let abandoned = state.withLock { state -> Running? in
            guard let job = state.running[key], job.remove(subscriber), job.subscribers.isEmpty else { return nil }
            return state.running.removeValue(forKey: key)
        }
        abandoned?.context.cancel()
        abandoned?.cancel?()
        if abandoned == nil { updatePriority(key, after: subscriber) }
        subscriber.answer(.failure(.cancelled))
    }

    /// Makes the job as urgent as its most urgent subscriber after one came or left.
    ///
    /// Where the job is as urgent as that one, and so is another, nothing has changed, and that is soon found.
    @inlinable
    func updatePriority(_ key: Key, after subscriber: Subscriber) {
        let isMatched = state.withLock { state in
            guard let job = state.running[key] else { return true }
            // Of two who join at once each finds the other: neither may rely on it.
            guard job.context.priority >= subscriber.context.priority else { return false }
            return job.subscribers.hasOther(than: subscriber)
        }
        if !isMatched { updatePriority(key) }
    }

    /// Makes the job as urgent as its most urgent subscriber.
    ///
    /// The priority is set outside the lock, because observers are called; so it is looked at again until it is right.
    @inlinable
    func updatePriority(_ key: Key) {
        while let (context, wanted) = wantedPriority(key), context.priority != wanted { context.priority = wanted }
    }

    @inlinable
    func wantedPriority(_ key: Key) -> (WorkContext, LoadPriority)? {
        state.withLock { state in
            guard let job = state.running[key] else { return nil }
            return job.subscribers.highestPriority.map { (job.context, $0) }
        }
    }
}
