import EideticCore

extension Downloader {
    /// Makes the exchanges of one download: the first, and one for each redirect.
    func load(_ request: FetchRequest, _ job: Job) async throws(EideticError) -> FetchResponse {
        var hop = Hop(request)
        while true {
            let outcome = await exchange(hop, job)
            if let error = outcome.error { throw error }
            guard let head = outcome.head else {
                throw EideticError(.badResponse, "\(hop.url): the server sent no answer")
            }
            guard let next = try hop.following(head, to: outcome.redirect, limit: configuration.redirectLimit) else {
                return try hop.response(head, outcome)
            }
            hop = next
        }
    }

    private func exchange(_ hop: Hop, _ job: Job) async -> TransferOutcome {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let order = order(id, hop, job) { continuation.resume(returning: $0) }
                scheduler.enqueue(order, job.context, isContinuation: hop.redirects > 0)
                // A cancellation that came before the exchange was in the queue found nothing to end.
                if job.context.isCancelled || Task.isCancelled { scheduler.cancel(id) }
            }
        } onCancel: {
            scheduler.cancel(id)
        }
    }

    private func order(
        _ id: UInt64,
        _ hop: Hop,
        _ job: Job,
        _ completion: @escaping @Sendable (TransferOutcome) -> Void
    ) -> TransferOrder {
        TransferOrder(
            id: id,
            url: hop.url,
            origin: hop.origin,
            headers: headers(for: hop),
            timeout: hop.request.timeout,
            totalTimeout: hop.request.totalTimeout,
            byteLimit: hop.request.byteLimit.bytes,
            requiresPicture: hop.request.requiresPicture,
            allowsInvalidCertificates: hop.request.allowsInvalidCertificates,
            usesCookies: hop.request.usesCookies,
            credentials: hop.credentials,
            onProgress: report(to: job),
            completion: completion
        )
    }

    private func report(to job: Job) -> @Sendable (FetchProgress) -> Void {
        guard configuration.minimumProgressInterval > .zero else { return job.report }
        let throttle = ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
        return { if throttle.lets($0) { job.report($0) } }
    }

    private func headers(for hop: Hop) -> HTTPHeaders {
        let types = (configuration.acceptedTypes + ["*/*;q=0.8"]).joined(separator: ",")
        let own: HTTPHeaders = ["Accept": types]
        return own.merging(configuration.headers).merging(hop.headers)
    }
}
