import EideticCore

extension Downloader {
    /// Makes the exchanges of one attempt: the first, unless `first` is what came of it, and one for each redirect.
    func followRedirects(
        of key: DownloadKey,
        job: Job,
        resuming partial: PartialBody?,
        firstOutcome: ExchangeOutcome?
    ) async throws(Failure) -> FetchResponse {
        var redirect = Redirect(key)
        var partialBody = partial
        var knownOutcome = firstOutcome
        while true {
            let outcome = try await exchange(for: redirect, job: job, resuming: partialBody, knownOutcome: knownOutcome)
            knownOutcome = nil
            guard let head = outcome.head else { throw Failure(error: .noResponse(url: redirect.url)) }
            if partialBody != nil, outcome.hasUnrequestedRange || head.status == 416 {
                // What we have is of no use to this server: once more, from the beginning.
                partialBody = nil
                continue
            }
            if let error = outcome.error {
                throw Failure(
                    error: error,
                    partialBody: makePartialBody(from: outcome, redirect: redirect, previous: partialBody),
                    wasStopped: outcome.wasStopped
                )
            }
            do throws(EideticError) {
                let nextRedirect = try redirect.next(
                    after: head,
                    location: outcome.redirectTarget,
                    limit: configuration.maximumRedirects
                )
                guard let nextRedirect else { return try redirect.response(head: head, outcome: outcome) }
                redirect = nextRedirect
            } catch {
                // A server that is busy says nothing about the beginning.
                let retryAfter = head.retryAfter(now: configuration.time.now.seconds)
                throw Failure(error: error, retryAfter: retryAfter, partialBody: partialBody)
            }
        }
    }

    /// What can be kept of an exchange that broke off: nothing where the caller asked for a part of the body himself, since
    /// we count from its beginning.
    ///
    /// Of a body that went to a file the beginning that was there before is all there is.
    private func makePartialBody(from outcome: ExchangeOutcome, redirect: Redirect, previous: PartialBody?)
        -> PartialBody?
    {
        guard headers(for: redirect, resuming: nil)["Range"] == nil else { return nil }
        let isResumed = outcome.head?.status == 206
        return PartialBody(outcome: outcome, resuming: previous) ?? (isResumed ? previous : nil)
    }

    /// One exchange, where the origin's breaker lets it through.
    private func exchange(
        for redirect: Redirect,
        job: Job,
        resuming partialBody: PartialBody?,
        knownOutcome: ExchangeOutcome?
    ) async throws(Failure) -> ExchangeOutcome {
        let outcome: ExchangeOutcome
        do throws(EideticError) {
            if let knownOutcome {
                outcome = knownOutcome
            } else {
                let isProbe = try state.admit(redirect.origin, isForced: redirect.originalRequest.ignoresFailureList)
                outcome = await performExchange(for: redirect, job: job, resuming: partialBody, isProbe: isProbe)
            }
        } catch {
            throw Failure(error: error, partialBody: partialBody)
        }
        state.recordExchange(redirect, outcome: outcome)
        if outcome.head == nil, let error = outcome.error {
            throw Failure(error: error, partialBody: partialBody, wasStopped: outcome.wasStopped)
        }
        return outcome
    }

    private func performExchange(for redirect: Redirect, job: Job, resuming partialBody: PartialBody?, isProbe: Bool)
        async -> ExchangeOutcome
    {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = makeExchangeRequest(
                    id: id,
                    redirect: redirect,
                    job: job,
                    resuming: partialBody,
                    isProbe: isProbe
                ) { outcome in
                    { continuation.resume(returning: outcome) }
                }
                scheduler.enqueue(request)
                // A cancellation that came before the exchange was in the queue found nothing to end.
                if job.context.isCancelled || Task.isCancelled { scheduler.cancel(id) }
            }
        } onCancel: {
            scheduler.cancel(id)
        }
    }

    func makeExchangeRequest(
        id: UInt64,
        redirect: Redirect,
        job: Job,
        resuming partialBody: PartialBody?,
        isProbe: Bool,
        completion: @escaping ExchangeRequest.Completion
    ) -> ExchangeRequest {
        ExchangeRequest(
            id: id,
            redirect: redirect,
            headers: headers(for: redirect, resuming: partialBody),
            credentials: redirect.credentials ?? configuration.credentials?(redirect.origin),
            context: job.context,
            requiresImage: redirect.originalRequest.requiresImage && !transformsBodies,
            partialBody: partialBody,
            filePath: transformsBodies ? nil : redirect.filePath,
            onProgress: isProbe ? makeProbeReporter(for: redirect.origin, job: job) : makeProgressReporter(for: job),
            completion: completion
        )
    }

    func headers(for redirect: Redirect, resuming partialBody: PartialBody?) -> HTTPHeaders {
        let common = redirect.isCrossOrigin ? commonHeaders.filter(Redirect.isSafeForOtherOrigins) : commonHeaders
        let requested = common.merging(redirect.headers)
        return partialBody.map { requested.merging($0.rangeHeaders) } ?? requested
    }

    /// The first that comes of a body shows that the origin answers, however long the rest takes.
    private func makeProbeReporter(for origin: Origin, job: Job) -> @Sendable (FetchProgress) -> Void {
        let report = makeProgressReporter(for: job)
        return { [state] progress in
            state.recordResponse(from: origin)
            report(progress)
        }
    }

    private func makeProgressReporter(for job: Job) -> @Sendable (FetchProgress) -> Void {
        guard configuration.minimumProgressInterval > .zero else { return job.report }
        let throttle = ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
        return { if throttle.allows($0) { job.report($0) } }
    }
}

extension EideticError {
    fileprivate static func noResponse(url: String) -> EideticError {
        EideticError(.badResponse, message: "\(url): the server sent no answer")
    }
}
