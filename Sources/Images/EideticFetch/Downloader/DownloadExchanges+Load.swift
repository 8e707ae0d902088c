import EideticCore
import EideticHTTP

/// One download: its attempts, and the hooks for its response.
extension DownloadExchanges {
    /// Checks that a request may be sent now, and returns a part of a retry to the budget.
    func prepare(_ request: FetchRequest) throws(EideticError) {
        if scheduler.isOffline { throw .offline(url: request.url) }
        try failures.checkUnlessIgnored(request)
        state.depositRetry()
    }

    func load(
        _ download: Download,
        firstOutcome: ExchangeOutcome? = nil,
        resuming interruptedBody: PartialBody? = nil
    ) async throws(EideticError) -> FetchResponse {
        let request = download.request
        do throws(DownloadFailure) {
            let reply = try await replyAfterRetries(
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
