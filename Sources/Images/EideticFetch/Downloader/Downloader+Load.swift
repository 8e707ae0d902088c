import EideticCore
import EideticHTTP

extension Downloader {
    /// The failure of one attempt, and the data for the next one.
    struct Failure: Error {
        let error: EideticError
        var retryAfter: Duration?
        /// The redirects that were followed, and the response that failed; none if no response arrived.
        var responses: [ResponseFreshness.Response] = []
        var partialBody: PartialBody?
        /// A Boolean value indicating whether the process was stopped during the attempt, so that the server did not
        /// fail.
        var wasStopped = false
    }

    /// Checks that a request may be sent now, and returns a part of a retry to the budget.
    func prepare(_ request: FetchRequest) throws(EideticError) {
        try checkOnline(request)
        try checkFailures(of: request)
        state.depositRetry()
    }

    /// Performs the attempts of one download.
    ///
    /// - Parameters:
    ///   - download: The download.
    ///   - firstOutcome: The outcome of the first exchange, if it has ended already.
    ///   - interruptedBody: The part of the body that an interrupted stream has received; `nil` if there was none.
    /// - Returns: The response, after the hooks.
    /// - Throws: The error of the last attempt.
    func load(
        _ download: Download,
        firstOutcome: ExchangeOutcome?,
        resuming interruptedBody: PartialBody? = nil
    ) async throws(EideticError) -> FetchResponse {
        let request = download.request
        do throws(Failure) {
            let reply = try await loadWithRetries(download, firstOutcome: firstOutcome, resuming: interruptedBody)
            let response = try await applyHooks(to: response(of: reply), of: request)
            recordSuccess(of: request)
            return response
        } catch {
            recordFailure(error.error, of: request, after: error.responses)
            throw error.error
        }
    }

    /// Performs attempts until one succeeds, or the last one has failed.
    func loadWithRetries(
        _ download: Download,
        firstOutcome: ExchangeOutcome?,
        resuming interruptedBody: PartialBody? = nil
    ) async throws(Failure) -> Reply {
        let request = download.request
        let mayResume = firstOutcome == nil && !download.isStreamed && request.isGet
        var partialBody = interruptedBody
        if partialBody == nil, mayResume {
            partialBody = await partialBodies?.remove(for: sentRequest(of: download))
        }
        var knownOutcome = firstOutcome
        var attempts = Attempts(of: request, configuration: configuration)
        while true {
            do throws(Failure) {
                var reply = try await followRedirects(of: download, resuming: partialBody, firstOutcome: knownOutcome)
                reply.outcome.countAttempts(attempts.count)
                return reply
            } catch {
                knownOutcome = nil
                partialBody = error.partialBody
                let decision = attempts.next(after: error, random: .random(in: 0..<1), budget: state.withdrawRetry)
                if case .retry(let delay) = decision {
                    Log.write(.info, category: .fetch, message: "retrying in \(delay): \(error.error.message)")
                    await state.wait(for: delay)
                }
                let stopError = decision == .stop ? nil : stopError(for: download)
                if decision != .stop, stopError == nil { continue }
                await store(partialBody, of: download, after: error.error)
                throw stopError.map { Failure(error: $0) } ?? error
            }
        }
    }

    /// Returns the error that ends a download before its next attempt, or `nil`.
    private func stopError(for download: Download) -> EideticError? {
        if download.context.isCancelled { return .cancelled }
        return isOffline ? .offline(url: download.request.url) : nil
    }

    /// Stores the part of a body that arrived before `error`, if the remainder may be loaded later.
    private func store(_ partialBody: PartialBody?, of download: Download, after error: EideticError) async {
        guard let partialBodies, let partialBody, error.isTransient || error.code == .offline else { return }
        await partialBodies.insert(partialBody, for: sentRequest(of: download))
    }

    /// Returns the request as it is sent, with all fields and credentials, so that users do not share partial bodies.
    private func sentRequest(of download: Download) -> FetchRequest {
        var request = download.request
        let redirect = Redirect(download.key)
        request.headers = headers(for: redirect, resuming: nil)
        request.credentials = redirect.credentials ?? configuration.credentials?(redirect.origin)
        return request
    }

    func checkOnline(_ request: FetchRequest) throws(EideticError) {
        if isOffline { throw .offline(url: request.url) }
    }
}

extension EideticError {
    static func offline(url: String) -> EideticError {
        EideticError(.offline, message: "\(url): no request was sent because the downloader is offline")
    }
}
