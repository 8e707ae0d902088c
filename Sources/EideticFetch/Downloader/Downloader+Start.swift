import EideticCore

extension Downloader {
    /// Starts a download on the calling thread; returns the function that cancels it.
    ///
    /// Most downloads consist of a single exchange. Those complete on the engine's thread, because a task in between
    /// would cost a switch of threads, which takes longer than everything else here. After any other first exchange the
    /// download continues in a task.
    func start(_ download: Download, completion: @escaping Coalescer.Completion) -> @Sendable () -> Void {
        let redirect = Redirect(download.key)
        var isProbe = false
        do throws(EideticError) {
            try prepare(download.request)
            if finishesOnEngineThread {
                isProbe = try state.admit(redirect.origin, isForced: download.request.ignoresFailureList)
            }
        } catch {
            completion(.failure(error))()
            return {}
        }
        let task = DeferredTask()
        guard finishesOnEngineThread else {
            resume(download, in: task, firstOutcome: nil, completion: completion)
            return { task.cancel() }
        }
        let id = nextID()
        let plan = ExchangePlan(redirect: redirect, job: download.job)
        let request = makeExchangeRequest(id: id, plan: plan, isProbe: isProbe) { [self] outcome in
            if let result = singleExchangeResult(for: redirect, outcome: outcome) { return completion(result) }
            resume(download, in: task, firstOutcome: outcome, completion: completion)
            return {}
        }
        scheduler.enqueue(request)
        return { [scheduler] in
            scheduler.cancel(id)
            task.cancel()
        }
    }

    /// A Boolean value indicating whether a single exchange can complete a download.
    private var finishesOnEngineThread: Bool { partialBodies.store == nil && !transformsBodies }

    /// Returns the result of a download whose first exchange completed it, or `nil` if it needs further exchanges.
    private func singleExchangeResult(
        for redirect: Redirect,
        outcome: ExchangeOutcome
    ) -> Result<FetchResponse, EideticError>? {
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

    /// Continues a download in a task, after its first exchange if that has ended already.
    private func resume(
        _ download: Download,
        in deferredTask: DeferredTask,
        firstOutcome: ExchangeOutcome?,
        completion: @escaping Coalescer.Completion
    ) {
        deferredTask.start(
            Task.immediateDetached { [self] in
                do throws(EideticError) {
                    completion(.success(try await load(download, firstOutcome: firstOutcome)))()
                } catch {
                    completion(.failure(error))()
                }
            }
        )
    }
}

/// A task that may be cancelled before it is created.
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
