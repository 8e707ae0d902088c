import EideticCore
import EideticHTTP

extension Downloader {
    /// Checks that a request may be sent now, and returns a part of a retry to the budget.
    func prepare(_ request: FetchRequest) throws(EideticError) {
        if isOffline { throw .offline(url: request.url) }
        try failures.checkUnlessIgnored(request)
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
        do throws(DownloadFailure) {
            let reply = try await exchanges.replyAfterRetries(
                to: download,
                firstOutcome: firstOutcome,
                resuming: interruptedBody
            )
            let response = try await hooks.applied(to: hooks.response(of: reply), of: request)
            failures.recordSuccess(of: request)
            return response
        } catch {
            failures.record(error.error, of: request, after: error.responses)
            throw error.error
        }
    }
}
