import EideticCore

extension Downloader {
    /// Makes the exchanges of one attempt: the first, unless `first` is what came of it, and one for each redirect.
    func follow(
        _ identity: FetchIdentity,
        _ job: Job,
        _ partial: PartialBody?,
        first: TransferOutcome?
    ) async throws(Failure) -> FetchResponse {
        var hop = Hop(identity)
        var partial = partial
        var known = first
        while true {
            let outcome = try await exchange(hop, job, partial, known: known)
            known = nil
            guard let head = outcome.head else { throw Failure(error: .noAnswer(hop.url)) }
            if partial != nil, outcome.isWrongRange || head.status == 416 {
                // What we have is of no use to this server: once more, from the beginning.
                partial = nil
                continue
            }
            if let error = outcome.error {
                throw Failure(error: error, partial: rest(of: outcome, hop, partial), wasStopped: outcome.wasStopped)
            }
            do throws(EideticError) {
                let next = try hop.following(head, to: outcome.redirect, limit: configuration.redirectLimit)
                guard let next else { return try hop.response(head, outcome) }
                hop = next
            } catch {
                // A server that is busy says nothing about the beginning.
                let pause = head.retryAfter(now: configuration.time.now.seconds)
                throw Failure(error: error, retryAfter: pause, partial: partial)
            }
        }
    }

    /// What can be kept of an exchange that broke off: nothing where the caller asked for a part of the body himself, since
    /// we count from its beginning.
    ///
    /// Of a body that went to a file the beginning that was there before is all there is.
    private func rest(of outcome: TransferOutcome, _ hop: Hop, _ partial: PartialBody?) -> PartialBody? {
        guard headers(for: hop, nil)["Range"] == nil else { return nil }
        let isContinued = outcome.head?.status == 206
        return PartialBody(outcome, after: partial) ?? (isContinued ? partial : nil)
    }

    /// One exchange, where the origin's breaker lets it through.
    private func exchange(
        _ hop: Hop,
        _ job: Job,
        _ partial: PartialBody?,
        known: TransferOutcome?
    ) async throws(Failure) -> TransferOutcome {
        let outcome: TransferOutcome
        do throws(EideticError) {
            if let known {
                outcome = known
            } else {
                let isProbe = try state.admit(hop.origin, insists: hop.request.retriesFailed)
                outcome = await run(hop, job, partial, isProbe: isProbe)
            }
        } catch {
            throw Failure(error: error, partial: partial)
        }
        state.note(hop, outcome)
        if outcome.head == nil, let error = outcome.error {
            throw Failure(error: error, partial: partial, wasStopped: outcome.wasStopped)
        }
        return outcome
    }

    private func run(_ hop: Hop, _ job: Job, _ partial: PartialBody?, isProbe: Bool) async -> TransferOutcome {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let order = order(id, hop, job, partial, isProbe: isProbe) { outcome in
                    { continuation.resume(returning: outcome) }
                }
                scheduler.enqueue(order)
                // A cancellation that came before the exchange was in the queue found nothing to end.
                if job.context.isCancelled || Task.isCancelled { scheduler.cancel(id) }
            }
        } onCancel: {
            scheduler.cancel(id)
        }
    }

    func order(
        _ id: UInt64,
        _ hop: Hop,
        _ job: Job,
        _ partial: PartialBody?,
        isProbe: Bool,
        _ completion: @escaping TransferOrder.Completion
    ) -> TransferOrder {
        TransferOrder(
            id: id,
            hop: hop,
            headers: headers(for: hop, partial),
            credentials: hop.credentials ?? configuration.credentials?(hop.origin),
            context: job.context,
            requiresPicture: hop.request.requiresPicture && !changesBodies,
            partial: partial,
            file: changesBodies ? nil : hop.file,
            onProgress: isProbe ? probe(of: hop.origin, job) : report(to: job),
            completion: completion
        )
    }

    func headers(for hop: Hop, _ partial: PartialBody?) -> HTTPHeaders {
        let common = hop.isForeign ? commonHeaders.filter(Hop.isHarmless) : commonHeaders
        let asked = common.merging(hop.headers)
        return partial.map { asked.merging($0.headers) } ?? asked
    }

    /// The first that comes of a body shows that the origin answers, however long the rest takes.
    private func probe(of origin: Origin, _ job: Job) -> @Sendable (FetchProgress) -> Void {
        let report = report(to: job)
        return { [state] progress in
            state.noteAnswer(of: origin)
            report(progress)
        }
    }

    private func report(to job: Job) -> @Sendable (FetchProgress) -> Void {
        guard configuration.minimumProgressInterval > .zero else { return job.report }
        let throttle = ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
        return { if throttle.lets($0) { job.report($0) } }
    }
}

extension EideticError {
    fileprivate static func noAnswer(_ url: String) -> EideticError {
        EideticError(.badResponse, "\(url): the server sent no answer")
    }
}
