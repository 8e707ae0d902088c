import EideticCore
import EideticHTTP
import Synchronization

/// Performs downloads: their attempts, and the exchanges of each.
final class DownloadExchanges: Sendable {
    let configuration: Downloader.Configuration
    private let fields: RequestFields
    let hooks: ResponseHooks
    let failures: FailureList
    let parts: DownloadParts
    let pool: WorkPool
    let scheduler: DownloadScheduler
    let state: DownloaderState
    private let lastID = Atomic<UInt64>(0)

    init(
        _ configuration: Downloader.Configuration,
        fields: RequestFields,
        hooks: ResponseHooks,
        failures: FailureList,
        parts: DownloadParts,
        pool: WorkPool,
        scheduler: DownloadScheduler,
        state: DownloaderState
    ) {
        self.configuration = configuration
        self.fields = fields
        self.hooks = hooks
        self.failures = failures
        self.parts = parts
        self.pool = pool
        self.scheduler = scheduler
        self.state = state
    }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    /// Performs the exchanges of one attempt: the first one, and one for each redirect.
    ///
    /// - Parameters:
    ///   - download: The download.
    ///   - partialBody: The part of the body that an earlier attempt received.
    ///   - firstOutcome: The outcome of the first exchange, if it has ended already.
    /// - Returns: The response of the last exchange, after the hook, whose status is acceptable or 304; for a stream
    ///   the hook is yet to be called, and decides about the status.
    /// - Throws: The error of the attempt, and the data for the next one.
    func followRedirects(
        of download: Download,
        resuming partialBody: PartialBody?,
        firstOutcome: ExchangeOutcome?
    ) async throws(DownloadFailure) -> DownloadReply {
        var plan = ExchangePlan(redirect: Redirect(download.key), download: download, partialBody: partialBody)
        var knownOutcome = firstOutcome
        while true {
            let (outcome, stream) = try await exchange(plan, knownOutcome: knownOutcome)
            knownOutcome = nil
            guard var head = outcome.head else { throw DownloadFailure(error: .noResponse(url: plan.redirect.url)) }
            if plan.partialBody != nil, outcome.hasUnrequestedRange || head.status == 416 {
                // The server cannot resume this body: load it from the beginning.
                plan.partialBody = nil
                continue
            }
            if let error = outcome.error {
                throw DownloadFailure(
                    error: error,
                    responses: plan.redirect.redirects + [head.cached],
                    partialBody: part(from: outcome, plan: plan),
                    wasStopped: outcome.wasStopped
                )
            }
            if head.status == 206, let resumed = plan.partialBody { head = resumed.completed(head) }
            guard let next = try redirect(after: head, outcome: outcome, plan: plan) else {
                let reply = DownloadReply(redirect: plan.redirect, head: head, outcome: outcome, stream: stream)
                if plan.download.isStreamed { return reply }
                return try await hooks.modified(reply, isResumed: plan.partialBody != nil)
            }
            plan.redirect = next
            if let reply = await useEntry(of: &plan) { return reply }
        }
    }

    /// Returns the next request of a chain of redirects; `nil` if `head` is that of the last response.
    private func redirect(
        after head: ResponseHead,
        outcome: ExchangeOutcome,
        plan: ExchangePlan
    ) throws(DownloadFailure) -> Redirect? {
        guard !plan.redirect.originalRequest.isSingleExchange else { return nil }
        do throws(EideticError) {
            let limit = configuration.maximumRedirects
            if let next = try plan.redirect.next(after: head, location: outcome.redirectTarget, limit: limit) {
                try checkConsent(to: next, from: plan.redirect, after: head)
                return next
            }
            if hooks.responseModifier == nil {
                try hooks.checkStatus(of: head, redirect: plan.redirect, isResumed: plan.partialBody != nil)
            }
            return nil
        } catch {
            // An overloaded server does not invalidate the partial body.
            throw DownloadFailure(
                error: error,
                retryAfter: head.retryAfter(now: configuration.time.now),
                responses: plan.redirect.redirects + [head.cached],
                partialBody: plan.partialBody
            )
        }
    }

    /// Throws `refused` if the program does not follow a redirect.
    private func checkConsent(to next: Redirect, from redirect: Redirect, after head: ResponseHead) throws(EideticError)
    {
        guard let followsRedirect = configuration.followsRedirect else { return }
        let description = FetchRedirect(
            url: redirect.url,
            target: next.url,
            status: head.status,
            headers: head.headers,
            precedingCount: redirect.redirectCount
        )
        guard !followsRedirect(description) else { return }
        throw EideticError(
            .refused,
            message: "\(redirect.url): the program does not follow the redirect to \(next.url)",
            httpStatus: head.status
        )
    }

    /// Searches the cache for the own entry of a redirect's target.
    ///
    /// - Parameter plan: The plan of the exchange with the target, which receives the conditions for a stale entry.
    /// - Returns: The reply if the entry is fresh; otherwise, `nil`.
    private func useEntry(of plan: inout ExchangePlan) async -> DownloadReply? {
        let redirect = plan.redirect
        guard redirect.conditions.isEmpty, redirect.method == "GET", plan.partialBody == nil,
            let entries = redirect.originalRequest.redirectEntries, let target = redirect.targetRequest,
            let entry = await entries.entry(for: target)
        else { return nil }
        switch entry {
        case .stale(let conditions):
            plan.redirect = redirect.confirming(target, conditions: conditions)
            return nil
        case .fresh:
            var head = ResponseHead()
            head.status = 304
            head.isFromCache = true
            let confirmed = redirect.confirming(target, conditions: [:])
            return DownloadReply(redirect: confirmed, head: head, outcome: ExchangeOutcome(head: head))
        }
    }

    /// Returns the part of a body that a later attempt can resume, or `nil`.
    ///
    /// A body is not resumed if the caller requested a range, because positions count from the beginning of the body.
    /// The body of a stream is its reader's.
    func part(from outcome: ExchangeOutcome, plan: ExchangePlan) -> PartialBody? {
        let isResumed = outcome.head?.status == 206 || outcome.head == nil
        guard plan.redirect.method == "GET", fields.headers(for: plan.redirect)["Range"] == nil else {
            return nil
        }
        let received =
            plan.download.isStreamed
            ? nil : PartialBody(outcome: outcome, url: plan.redirect.url, resuming: plan.partialBody)
        return received ?? (isResumed ? plan.partialBody : nil)
    }

    /// Performs one exchange, if the circuit of the origin admits it.
    ///
    /// - Returns: The outcome, and the stream of a body that is still arriving; it then has the head alone.
    private func exchange(
        _ plan: ExchangePlan,
        knownOutcome: ExchangeOutcome?
    ) async throws(DownloadFailure) -> (ExchangeOutcome, FetchStream.Source?) {
        let redirect = plan.redirect
        var stream: FetchStream.Source?
        let outcome: ExchangeOutcome
        do throws(EideticError) {
            if let knownOutcome {
                outcome = knownOutcome
            } else {
                let isProbe = try state.admit(redirect)
                if plan.download.isStreamed {
                    let source = FetchStream.Source(id: nextID(), channel: BodyChannel(), scheduler: scheduler)
                    outcome = await perform(plan, isProbe: isProbe, streamingTo: source)
                    stream = source
                } else {
                    outcome = await perform(plan, isProbe: isProbe)
                }
            }
        } catch {
            throw DownloadFailure(error: error, partialBody: plan.partialBody)
        }
        // A streamed exchange is recorded at its end.
        if stream == nil { state.recordExchange(redirect, outcome: outcome) }
        if outcome.head == nil, let error = outcome.error {
            throw DownloadFailure(error: error, partialBody: plan.partialBody, wasStopped: outcome.wasStopped)
        }
        return (outcome, stream)
    }

    private func perform(_ plan: ExchangePlan, isProbe: Bool) async -> ExchangeOutcome {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = makeExchangeRequest(id: id, plan: plan, isProbe: isProbe) { outcome in
                    { continuation.resume(returning: outcome) }
                }
                enqueue(request, of: plan.download)
            }
        } onCancel: {
            scheduler.cancel(id)
        }
    }

    /// Performs one exchange until its body begins to arrive, or it has ended without one.
    private func perform(
        _ plan: ExchangePlan,
        isProbe: Bool,
        streamingTo source: FetchStream.Source
    ) async -> ExchangeOutcome {
        let (state, channel, redirect) = (state, source.channel, plan.redirect)
        let request = makeExchangeRequest(id: source.id, plan: plan, isProbe: isProbe, channel: channel) { outcome in
            state.recordExchange(redirect, outcome: outcome)
            return { channel.finish(with: outcome) }
        }
        enqueue(request, of: plan.download)
        let outcome = await withTaskCancellationHandler {
            await channel.waitForHead()
        } onCancel: {
            scheduler.cancel(source.id)
        }
        guard let head = channel.head else { return outcome ?? .cancelled }
        if isProbe { state.recordResponse(from: redirect.origin) }
        return ExchangeOutcome(head: head)
    }

    private func enqueue(_ request: ExchangeRequest, of download: Download) {
        scheduler.enqueue(request)
        // A cancellation from before the exchange was enqueued had no effect.
        if download.context.isCancelled || Task.isCancelled { scheduler.cancel(request.id) }
    }
}

// MARK: The request of an exchange
extension DownloadExchanges {
    /// Creates the request of an exchange; every exchange of the downloader is created here.
    func makeExchangeRequest(
        id: UInt64,
        plan: ExchangePlan,
        isProbe: Bool,
        channel: BodyChannel? = nil,
        completion: @escaping ExchangeRequest.Completion
    ) -> ExchangeRequest {
        let (redirect, download) = (plan.redirect, plan.download)
        return ExchangeRequest(
            id: id,
            redirect: redirect,
            headers: fields.headers(for: redirect, resuming: plan.partialBody),
            credentials: redirect.credentials ?? fields.credentials?(redirect.origin),
            context: download.context,
            requiresImage: redirect.originalRequest.requiresImage
                && (download.isStreamed ? hooks.responseModifier == nil : !hooks.transformsBodies),
            bodies: hooks.bodies(for: redirect.originalRequest),
            partialBody: plan.partialBody,
            channel: channel,
            onProgress: isProbe && !download.isStreamed
                ? makeProbeReporter(for: redirect.origin, download: download) : makeProgressReporter(for: download),
            onBody: download.onBody,
            completion: completion
        )
    }

    /// Returns a progress reporter that closes the circuit of the origin as soon as a part of the body arrives.
    private func makeProbeReporter(for origin: Origin, download: Download) -> @Sendable (LoadProgress) -> Void {
        let report = makeProgressReporter(for: download)
        return { [state] progress in
            state.recordResponse(from: origin)
            report(progress)
        }
    }

    private func makeProgressReporter(for download: Download) -> @Sendable (LoadProgress) -> Void {
        guard configuration.minimumProgressInterval > .zero, !download.isStreamed else { return download.report }
        let throttle = ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
        return { if throttle.allows($0) { download.report($0) } }
    }
}

extension EideticError {
    static func noResponse(url: String) -> EideticError {
        EideticError(.badResponse, message: "\(url): the server sent no response")
    }
}
