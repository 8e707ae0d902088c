package import EideticCore
package import EideticHTTP

/// The rules for which requests the list is asked and told of.
extension FailureList {
    /// Throws the error that a request failed with permanently before, unless it ignores that or asks for a new
    /// response.
    func checkUnlessIgnored(_ request: FetchRequest) throws(EideticError) {
        guard request.isGet, !request.ignoresFailureList, !isEmpty, !request.cacheControl.refusesCached else { return }
        try check(request)
    }

    /// Records the failure of a request, for no longer than the responses allow; a remembered one is not extended.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - request: The request.
    ///   - responses: The redirects that were followed, and the response that failed; none if no response arrived.
    package func record(
        _ error: EideticError,
        of request: FetchRequest,
        after responses: [ResponseFreshness.Response]
    ) {
        guard request.isGet, !error.isRemembered, !request.cacheControl.noStore else { return }
        let now = time.now
        let limits = responses.compactMap { ResponseFreshness.explicitRemainder(of: $0, at: now) }
        record(error, for: request, limit: limits.min())
    }

    /// Records the success of a request that ignored the list.
    func recordSuccess(of request: FetchRequest) { if request.ignoresFailureList { remove(request) } }
}
