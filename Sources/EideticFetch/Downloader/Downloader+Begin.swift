import EideticCore

extension Downloader {
    /// Begins a download on the calling thread; gives what ends it early.
    ///
    /// Most downloads are one exchange and nothing after it. Those are answered from the engine's thread: a task in between
    /// would cost a change of threads, which takes longer than everything else here. Whatever else comes of the first
    /// exchange goes on in a task.
    func start(_ key: DownloadKey, job: Job, finish: @escaping Shared.Completion) -> @Sendable () -> Void {
        let redirect = Redirect(key)
        var isProbe = false
        do throws(EideticError) {
            try prepare(redirect.originalRequest)
            if finishesOnEngineThread {
                isProbe = try state.admit(redirect.origin, isForced: redirect.originalRequest.ignoresFailureList)
            }
        } catch {
            finish(.failure(error))()
            return {}
        }
        let task = DeferredTask()
        guard finishesOnEngineThread else {
            continueInTask(task, key: key, job: job, firstOutcome: nil, finish: finish)
            return { task.cancel() }
        }
        let id = nextID()
        let request = makeExchangeRequest(id: id, redirect: redirect, job: job, resuming: nil, isProbe: isProbe) {
            [self] outcome in
            if let result = singleExchangeResult(for: redirect, outcome: outcome) { return finish(result) }
            continueInTask(task, key: key, job: job, firstOutcome: outcome, finish: finish)
            return {}
        }
        scheduler.enqueue(request)
        return { [scheduler] in
            scheduler.cancel(id)
            task.cancel()
        }
    }

    /// Whether nothing comes before and after the exchange.
    private var finishesOnEngineThread: Bool { partialBodies.store == nil && !transformsBodies }

    /// What came of a download whose first exchange was all; `nil` where it was not.
    private func singleExchangeResult(for redirect: Redirect, outcome: ExchangeOutcome) -> Result<
        FetchResponse, EideticError
    >? {
        if outcome.error?.code == .cancelled {
            state.recordExchange(redirect, outcome: outcome)
            return .failure(.cancelled)
        }
        guard outcome.error == nil, let head = outcome.head, head.isSuccess || head.status == 304,
            let response = try? redirect.response(head: head, outcome: outcome)
        else { return nil }
        state.recordExchange(redirect, outcome: outcome)
        if redirect.originalRequest.ignoresFailureList { failures.remove(redirect.originalRequest) }
        return .success(response)
    }

    private func continueInTask(
        _ task: DeferredTask,
        key: DownloadKey,
        job: Job,
        firstOutcome: ExchangeOutcome?,
        finish: @escaping Shared.Completion
    ) {
        task.start(
            Task.immediateDetached { [self] in
                do throws(EideticError) {
                    finish(.success(try await load(key, job: job, firstOutcome: firstOutcome)))()
                } catch {
                    finish(.failure(error))()
                }
            }
        )
    }
}

/// A task that may be cancelled before it begins.
private final class DeferredTask: Sendable {
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
