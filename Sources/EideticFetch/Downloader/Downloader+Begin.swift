import EideticCore

extension Downloader {
    /// Begins a download on the calling thread; gives what ends it early.
    ///
    /// Most downloads are one exchange and nothing after it. Those are answered from the engine's thread: a task in between
    /// would cost a change of threads, which takes longer than everything else here. Whatever else comes of the first
    /// exchange goes on in a task.
    func begin(_ identity: FetchIdentity, _ job: Job, _ finish: @escaping Shared.Finish) -> @Sendable () -> Void {
        let hop = Hop(identity)
        var isProbe = false
        do throws(EideticError) {
            try prepare(hop.request)
            if isDirect { isProbe = try state.admit(hop.origin, insists: hop.request.retriesFailed) }
        } catch {
            finish(.failure(error))()
            return {}
        }
        let task = LateTask()
        guard isDirect else {
            go(on: task, identity, job, nil, finish)
            return { task.cancel() }
        }
        let id = nextID()
        let order = order(id, hop, job, nil, isProbe: isProbe) { [self] outcome in
            if let result = direct(hop, outcome) { return finish(result) }
            go(on: task, identity, job, outcome, finish)
            return {}
        }
        scheduler.enqueue(order)
        return { [scheduler] in
            scheduler.cancel(id)
            task.cancel()
        }
    }

    /// Whether nothing comes before and after the exchange.
    private var isDirect: Bool { partials.store == nil && !changesBodies }

    /// What came of a download whose first exchange was all; `nil` where it was not.
    private func direct(_ hop: Hop, _ outcome: TransferOutcome) -> Result<FetchResponse, EideticError>? {
        if outcome.error?.code == .cancelled {
            state.note(hop, outcome)
            return .failure(.cancelled)
        }
        guard outcome.error == nil, let head = outcome.head, head.isSuccess || head.status == 304,
            let response = try? hop.response(head, outcome)
        else { return nil }
        state.note(hop, outcome)
        if hop.request.retriesFailed { failures.remove(hop.request) }
        return .success(response)
    }

    private func go(
        on late: LateTask,
        _ identity: FetchIdentity,
        _ job: Job,
        _ first: TransferOutcome?,
        _ finish: @escaping Shared.Finish
    ) {
        late.start(
            Task.immediateDetached { [self] in
                do throws(EideticError) {
                    finish(.success(try await load(identity, job, first: first)))()
                } catch {
                    finish(.failure(error))()
                }
            }
        )
    }
}

/// A task that may be cancelled before it begins.
private final class LateTask: Sendable {
    private let state = Guarded((task: Task<Void, Never>?.none, isCancelled: false))

    func start(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
