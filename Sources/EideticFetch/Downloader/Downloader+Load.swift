import EideticCore

extension Downloader {
    /// One attempt that failed, and what it leaves to the next.
    struct Failure: Error {
        let error: EideticError
        var retryAfter: Duration?
        var partial: PartialBody?
        /// Whether the process was stopped meanwhile: then the server is not to blame.
        var wasStopped = false
    }

    /// Refuses what is not to be asked for now.
    func prepare(_ request: FetchRequest) throws(EideticError) {
        try checkOnline(request)
        if !request.retriesFailed { try failures.check(request) }
        state.depositAttempt()
    }

    /// Makes the attempts of one download; `first` is what came of the first exchange, where that was made already.
    func load(
        _ identity: FetchIdentity,
        _ job: Job,
        first: TransferOutcome?
    ) async throws(EideticError) -> FetchResponse {
        let request = identity.request
        do throws(EideticError) {
            let response = try await finish(try await attempt(identity, job, first), identity)
            if request.retriesFailed { failures.remove(request) }
            return response
        } catch {
            failures.note(error, for: request)
            throw error
        }
    }

    private func attempt(
        _ identity: FetchIdentity,
        _ job: Job,
        _ first: TransferOutcome?
    ) async throws(EideticError) -> FetchResponse {
        let request = identity.request
        var partial = first == nil ? await partials.take(partialKey(of: identity)) : nil
        var first = first
        var attempts = 1
        // A stop of the process is nobody's failure, but a debugger must not keep a download alive for ever.
        var freeAttempts = 3
        while true {
            do throws(Failure) {
                defer { first = nil }
                var response = try await follow(identity, job, partial, first: first)
                response.metrics.attempts = attempts
                return response
            } catch {
                partial = error.partial
                if error.wasStopped, error.error.isTransportFailure, freeAttempts > 0 {
                    freeAttempts -= 1
                } else if let delay = delay(after: error, attempts, request) {
                    Log.write(.info, .fetch, "again in \(delay): \(error.error.message)")
                    await state.wait(delay)
                } else {
                    await keep(partial, of: identity, after: error.error)
                    throw error.error
                }
                attempts += 1
                if let reason = reasonToStop(request, job) {
                    await keep(partial, of: identity, after: error.error)
                    throw reason
                }
            }
        }
    }

    private func reasonToStop(_ request: FetchRequest, _ job: Job) -> EideticError? {
        if job.context.isCancelled { return .cancelled }
        return isOffline ? .offline(request.url) : nil
    }

    /// Keeps what came before `error`, where the rest may come later.
    private func keep(_ partial: PartialBody?, of identity: FetchIdentity, after error: EideticError) async {
        guard let partial, error.isTransient || error.code == .offline else { return }
        await partials.keep(partial, of: partialKey(of: identity))
    }

    /// The request as it goes out: what one user was sent is not continued for another.
    private func partialKey(of identity: FetchIdentity) -> FetchRequest {
        var key = identity.request
        guard partials.store != nil else { return key }
        let hop = Hop(identity)
        key.headers = headers(for: hop, nil)
        key.credentials = hop.credentials ?? configuration.credentials?(hop.origin)
        return key
    }

    private func delay(after failure: Failure, _ attempts: Int, _ request: FetchRequest) -> Duration? {
        guard request.retriesFailed || configuration.alwaysRetries, failure.error.isTransient else { return nil }
        let random = Double.random(in: 0..<1)
        let delay = configuration.retry.delay(
            afterAttempt: attempts,
            retryAfter: failure.retryAfter,
            random: random
        )
        guard let delay, state.withdrawAttempt() else { return nil }
        return delay
    }

    func checkOnline(_ request: FetchRequest) throws(EideticError) {
        if isOffline { throw .offline(request.url) }
    }
}

extension EideticError {
    static func offline(_ url: String) -> EideticError {
        EideticError(.offline, "\(url): not asked, the downloader is offline")
    }
}
