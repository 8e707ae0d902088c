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
        var partialBody = interruptedBody
        if partialBody == nil, firstOutcome == nil { partialBody = await takePart(of: request) }
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
                if await waitForNetwork(download, after: error.error) { continue }
                let decision = attempts.next(after: error, random: .random(in: 0..<1), budget: state.withdrawRetry)
                if case .retry(let delay) = decision {
                    Log.write(.info, category: .fetch, message: "retrying in \(delay): \(error.error.message)")
                    await state.wait(for: delay)
                }
                let stopError = decision == .stop ? nil : stopError(for: download)
                if decision != .stop, stopError == nil { continue }
                // The remainder may be loaded later.
                if error.error.isTransient || [.offline, .cancelled].contains(error.error.code) {
                    await keep(partialBody, of: request, since: download.partOrigin)
                }
                throw stopError.map { Failure(error: $0) } ?? error
            }
        }
    }

    /// Waits until the network is back, if it is missing and the downloader waits for it.
    ///
    /// - Returns: `true` if the network is back after a wait; `false` if the failure has another cause, or the download
    ///   was cancelled.
    private func waitForNetwork(_ download: Download, after error: EideticError) async -> Bool {
        let request = download.request
        guard configuration.waitsForConnectivity, request.isIdempotent, error.mayLackNetwork else { return false }
        var changeCount = state.networkChangeCount
        guard await !isNetworkAvailable() else { return false }
        Log.write(.info, category: .fetch, message: "\(request.url): waits for the network: \(error.message)")
        configuration.onWaitingForConnectivity?(request)
        repeat {
            // A system may not tell of its changes.
            await state.wait(for: .seconds(30), orChangeAfter: changeCount)
            if download.context.isCancelled || Task.isCancelled || isOffline { return false }
            changeCount = state.networkChangeCount
        } while await !isNetworkAvailable()
        return true
    }

    private func isNetworkAvailable() async -> Bool {
        (try? await pool.run { [path = configuration.networkPath] _ in path.isAvailable }) ?? true
    }

    /// Returns the error that ends a download before its next attempt, or `nil`.
    private func stopError(for download: Download) -> EideticError? {
        if download.context.isCancelled { return .cancelled }
        return isOffline ? .offline(url: download.request.url) : nil
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
