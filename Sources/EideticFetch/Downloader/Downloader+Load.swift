import EideticCore

extension Downloader {
    /// One attempt that failed, and what it leaves to the next.
    struct Failure: Error {
        let error: EideticError
        var retryAfter: Duration?
        var partialBody: PartialBody?
        /// Whether the process was stopped meanwhile: then the server is not to blame.
        var wasStopped = false
    }

    /// Refuses what is not to be asked for now.
    func prepare(_ request: FetchRequest) throws(EideticError) {
        try checkOnline(request)
        if !request.ignoresFailureList { try failures.check(request) }
        state.depositRetry()
    }

    /// Makes the attempts of one download; `first` is what came of the first exchange, where that was made already.
    func load(
        _ key: DownloadKey,
        job: Job,
        firstOutcome: ExchangeOutcome?
    ) async throws(EideticError) -> FetchResponse {
        let request = key.request
        do throws(EideticError) {
            let response = try await applyHooks(
                to: try await loadWithRetries(key, job: job, firstOutcome: firstOutcome),
                key: key
            )
            if request.ignoresFailureList { failures.remove(request) }
            return response
        } catch {
            failures.record(error, for: request)
            throw error
        }
    }

    private func loadWithRetries(
        _ key: DownloadKey,
        job: Job,
        firstOutcome: ExchangeOutcome?
    ) async throws(EideticError) -> FetchResponse {
        let request = key.request
        var partialBody = firstOutcome == nil ? await partialBodies.remove(for: partialBodyKey(of: key)) : nil
        var firstOutcome = firstOutcome
        var attempts = 1
        // A stop of the process is nobody's failure, but a debugger must not keep a download alive for ever.
        var freeRetries = 3
        while true {
            do throws(Failure) {
                defer { firstOutcome = nil }
                var response = try await followRedirects(
                    of: key,
                    job: job,
                    resuming: partialBody,
                    firstOutcome: firstOutcome
                )
                response.metrics.attemptCount = attempts
                return response
            } catch {
                partialBody = error.partialBody
                if error.wasStopped, error.error.isTransportFailure, freeRetries > 0 {
                    freeRetries -= 1
                } else if let delay = retryDelay(after: error, attemptCount: attempts, request: request) {
                    Log.write(.info, category: .fetch, message: "again in \(delay): \(error.error.message)")
                    await state.wait(for: delay)
                } else {
                    await store(partialBody, of: key, after: error.error)
                    throw error.error
                }
                attempts += 1
                if let reason = stopError(for: request, job: job) {
                    await store(partialBody, of: key, after: error.error)
                    throw reason
                }
            }
        }
    }

    private func stopError(for request: FetchRequest, job: Job) -> EideticError? {
        if job.context.isCancelled { return .cancelled }
        return isOffline ? .offline(url: request.url) : nil
    }

    /// Keeps what came before `error`, where the rest may come later.
    private func store(_ partialBody: PartialBody?, of key: DownloadKey, after error: EideticError) async {
        guard let partialBody, error.isTransient || error.code == .offline else { return }
        await partialBodies.insert(partialBody, for: partialBodyKey(of: key))
    }

    /// The request as it goes out: what one user was sent is not continued for another.
    private func partialBodyKey(of key: DownloadKey) -> FetchRequest {
        var request = key.request
        guard partialBodies.store != nil else { return request }
        let redirect = Redirect(key)
        request.headers = headers(for: redirect, resuming: nil)
        request.credentials = redirect.credentials ?? configuration.credentials?(redirect.origin)
        return request
    }

    private func retryDelay(after failure: Failure, attemptCount attempts: Int, request: FetchRequest) -> Duration? {
        guard request.ignoresFailureList || configuration.alwaysRetries, failure.error.isTransient else { return nil }
        let random = Double.random(in: 0..<1)
        let delay = configuration.retryPolicy.delay(
            afterAttempt: attempts,
            retryAfter: failure.retryAfter,
            random: random
        )
        guard let delay, state.withdrawRetry() else { return nil }
        return delay
    }

    func checkOnline(_ request: FetchRequest) throws(EideticError) {
        if isOffline { throw .offline(url: request.url) }
    }
}

extension EideticError {
    static func offline(url: String) -> EideticError {
        EideticError(.offline, message: "\(url): not asked, the downloader is offline")
    }
}
