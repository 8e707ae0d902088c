import EideticCore

extension DownloadExchanges {
    /// Starts a download on the calling thread; returns the function that cancels it.
    ///
    /// Most downloads consist of a single exchange. Those complete on the engine's thread, because a task in between
    /// would cost a switch of threads, which takes longer than everything else here. After any other first exchange the
    /// download continues in a task.
    func start(_ download: Download, completion: @escaping Downloader.Coalescer.Completion) -> @Sendable () -> Void {
        let redirect = Redirect(download.key)
        let finishesOnEngineThread = finishesOnEngineThread(download.request)
        var isProbe = false
        do throws(EideticError) {
            try prepare(download.request)
            if finishesOnEngineThread { isProbe = try state.admit(redirect) }
        } catch {
            completion(.failure(error))()
            return {}
        }
        let task = DeferredCancellation()
        let end = CancelledEnd(in: parts.memory)
        // The download reports to its job, which holds the function that cancels it: that must not hold the download.
        let headers = download.partOrigin.headers
        let knownKey = parts.earlyKey(of: download.request, with: headers)
        let announceEnd: @Sendable () -> Void = { [parts, key = download.key] in
            end.announce(for: knownKey ?? parts.key(of: key.request, with: headers))
        }
        guard finishesOnEngineThread else {
            resume(download, in: task, firstOutcome: nil, end: end, completion: completion)
            return {
                announceEnd()
                task.cancel()
            }
        }
        let id = nextID()
        let plan = ExchangePlan(redirect: redirect, download: download)
        let request = makeExchangeRequest(id: id, plan: plan, isProbe: isProbe) { [self] outcome in
            if let result = singleExchangeResult(for: plan, outcome: outcome) {
                end.end()
                return completion(result)
            }
            resume(download, in: task, firstOutcome: outcome, end: end, completion: completion)
            return {}
        }
        scheduler.enqueue(request)
        return { [scheduler] in
            announceEnd()
            scheduler.cancel(id)
            task.cancel()
        }
    }

    /// Returns whether a single exchange can complete a download; a part of the body is searched before.
    private func finishesOnEngineThread(_ request: FetchRequest) -> Bool {
        !hooks.transformsBodies && !configuration.waitsForConnectivity && !parts.mayHave(of: request)
    }

    /// Returns the result of a download whose first exchange completed it, or `nil` if it needs further exchanges.
    private func singleExchangeResult(
        for plan: ExchangePlan,
        outcome: ExchangeOutcome
    ) -> Result<FetchResponse, EideticError>? {
        let redirect = plan.redirect
        if outcome.error?.code == .cancelled {
            parts.keepInMemory(
                part(from: outcome, plan: plan),
                of: redirect.originalRequest,
                since: plan.download.partOrigin
            )
            state.recordExchange(redirect, outcome: outcome)
            return .failure(.cancelled)
        }
        guard outcome.error == nil, let head = outcome.head,
            head.status == 304 || hooks.bodies(for: redirect.originalRequest).accepts(head, isResumed: false)
        else { return nil }
        state.recordExchange(redirect, outcome: outcome)
        failures.recordSuccess(of: redirect.originalRequest)
        return .success(redirect.response(head: head, outcome: outcome))
    }

    /// Continues a download in a task, after its first exchange if that has ended already.
    private func resume(
        _ download: Download,
        in cancellation: DeferredCancellation,
        firstOutcome: ExchangeOutcome?,
        end: CancelledEnd,
        completion: @escaping Downloader.Coalescer.Completion
    ) {
        let task = Task.immediateDetached(executorPreference: BlockingExecutor.current) { [self] in
            let result: Result<FetchResponse, EideticError>
            do throws(EideticError) {
                result = .success(try await load(download, firstOutcome: firstOutcome))
            } catch {
                result = .failure(error)
            }
            end.end()
            completion(result)()
        }
        cancellation.setHandler { task.cancel() }
    }
}

/// A cancellation that may happen before there is something to cancel.
private final class DeferredCancellation: Sendable {
    private let state = Guarded((handler: (@Sendable () -> Void)?.none, isCancelled: false))

    /// Sets the function that cancels; it is called at once if the cancellation has happened.
    func setHandler(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.handler = handler
            return state.isCancelled
        }
        if isCancelled { handler() }
    }

    func cancel() {
        let handler = state.withLock { state in
            state.isCancelled = true
            return state.handler
        }
        handler?()
    }
}
