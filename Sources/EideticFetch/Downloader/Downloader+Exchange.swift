import EideticCore

extension Downloader {
    /// The parameters of the next exchange of a download.
    struct ExchangePlan: Sendable {
        var redirect: Redirect
        let job: Job
        /// The part of the body that an earlier attempt received; the remainder is requested.
        var partialBody: PartialBody?
    }

    /// Performs the exchanges of one attempt: the first one, and one for each redirect.
    ///
    /// - Parameters:
    ///   - download: The download.
    ///   - partialBody: The part of the body that an earlier attempt received.
    ///   - firstOutcome: The outcome of the first exchange, if it has ended already.
    /// - Returns: The response of the last exchange.
    /// - Throws: The error of the attempt, and the data for the next one.
    func followRedirects(
        of download: Download,
        resuming partialBody: PartialBody?,
        firstOutcome: ExchangeOutcome?
    ) async throws(Failure) -> FetchResponse {
        var plan = ExchangePlan(redirect: Redirect(download.key), job: download.job, partialBody: partialBody)
        var knownOutcome = firstOutcome
        while true {
            let outcome = try await exchange(plan, knownOutcome: knownOutcome)
            knownOutcome = nil
            guard let head = outcome.head else { throw Failure(error: .noResponse(url: plan.redirect.url)) }
            if plan.partialBody != nil, outcome.hasUnrequestedRange || head.status == 416 {
                // The server cannot resume this body: load it from the beginning.
                plan.partialBody = nil
                continue
            }
            if let error = outcome.error {
                let received = makePartialBody(from: outcome, plan: plan)
                throw Failure(error: error, partialBody: received, wasStopped: outcome.wasStopped)
            }
            do throws(EideticError) {
                let redirect = plan.redirect
                let next = try redirect.next(
                    after: head,
                    location: outcome.redirectTarget,
                    limit: configuration.maximumRedirects
                )
                guard let next else { return try redirect.response(head: head, outcome: outcome) }
                plan.redirect = next
            } catch {
                // An overloaded server does not invalidate the partial body.
                let retryAfter = head.retryAfter(now: configuration.time.now.seconds)
                throw Failure(error: error, retryAfter: retryAfter, partialBody: plan.partialBody)
            }
        }
    }

    /// Returns the part of a body that a later attempt can resume, or `nil`.
    ///
    /// A body is not resumed if the caller requested a range, because positions count from the beginning of the body.
    /// Of a body that is written to a file only the part from before the exchange is in memory.
    private func makePartialBody(from outcome: ExchangeOutcome, plan: ExchangePlan) -> PartialBody? {
        guard headers(for: plan.redirect, resuming: nil)["Range"] == nil else { return nil }
        let isResumed = outcome.head?.status == 206
        return PartialBody(outcome: outcome, resuming: plan.partialBody) ?? (isResumed ? plan.partialBody : nil)
    }

    /// Performs one exchange, if the circuit of the origin admits it.
    private func exchange(
        _ plan: ExchangePlan,
        knownOutcome: ExchangeOutcome?
    ) async throws(Failure) -> ExchangeOutcome {
        let redirect = plan.redirect
        let outcome: ExchangeOutcome
        do throws(EideticError) {
            if let knownOutcome {
                outcome = knownOutcome
            } else {
                let isForced = redirect.originalRequest.ignoresFailureList
                let isProbe = try state.admit(redirect.origin, isForced: isForced)
                outcome = await perform(plan, isProbe: isProbe)
            }
        } catch {
            throw Failure(error: error, partialBody: plan.partialBody)
        }
        state.recordExchange(redirect, outcome: outcome)
        if outcome.head == nil, let error = outcome.error {
            throw Failure(error: error, partialBody: plan.partialBody, wasStopped: outcome.wasStopped)
        }
        return outcome
    }

    private func perform(_ plan: ExchangePlan, isProbe: Bool) async -> ExchangeOutcome {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = makeExchangeRequest(id: id, plan: plan, isProbe: isProbe) { outcome in
                    { continuation.resume(returning: outcome) }
                }
                scheduler.enqueue(request)
                // A cancellation from before the exchange was enqueued had no effect.
                if plan.job.context.isCancelled || Task.isCancelled { scheduler.cancel(id) }
            }
        } onCancel: {
            scheduler.cancel(id)
        }
    }

    func makeExchangeRequest(
        id: UInt64,
        plan: ExchangePlan,
        isProbe: Bool,
        completion: @escaping ExchangeRequest.Completion
    ) -> ExchangeRequest {
        let (redirect, job) = (plan.redirect, plan.job)
        return ExchangeRequest(
            id: id,
            redirect: redirect,
            headers: headers(for: redirect, resuming: plan.partialBody),
            credentials: redirect.credentials ?? configuration.credentials?(redirect.origin),
            context: job.context,
            requiresImage: redirect.originalRequest.requiresImage && !transformsBodies,
            partialBody: plan.partialBody,
            filePath: transformsBodies ? nil : redirect.filePath,
            onProgress: isProbe
                ? makeProbeReporter(for: redirect.origin, job: job) : makeProgressReporter(for: job),
            completion: completion
        )
    }

    func headers(for redirect: Redirect, resuming partialBody: PartialBody?) -> HTTPHeaders {
        let common =
            redirect.isCrossOrigin ? commonHeaders.filter(Redirect.isSafeForOtherOrigins) : commonHeaders
        let requested = common.merging(redirect.headers)
        return partialBody.map { requested.merging($0.rangeHeaders) } ?? requested
    }

    /// Returns a progress reporter that closes the circuit of the origin as soon as a part of the body arrives.
    private func makeProbeReporter(for origin: Origin, job: Job) -> @Sendable (FetchProgress) -> Void {
        let report = makeProgressReporter(for: job)
        return { [state] progress in
            state.recordResponse(from: origin)
            report(progress)
        }
    }

    private func makeProgressReporter(for job: Job) -> @Sendable (FetchProgress) -> Void {
        guard configuration.minimumProgressInterval > .zero else { return job.report }
        let throttle = makeProgressThrottle()
        return { if throttle.allows($0) { job.report($0) } }
    }
}

extension EideticError {
    static func noResponse(url: String) -> EideticError {
        EideticError(.badResponse, message: "\(url): the server sent no response")
    }
}
