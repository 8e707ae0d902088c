import CCurl
import EideticCore
import EideticHTTP

extension Exchange {
    /// Returns the outcome of the exchange, after libcurl has ended it with `code`.
    func makeOutcome(code: CURLcode) -> ExchangeOutcome {
        if code == CURLE_OK, failure == nil { finishBody() }
        var outcome = ExchangeOutcome(head: head, sharedMetrics: SharedMetrics(metrics))
        outcome.wasStopped = clock.stopCount != stopCountAtStart
        outcome.error = failure ?? (code == CURLE_OK || isCompleteWithoutBody ? nil : error(for: code))
        if code == CURLE_OK, outcome.error == nil, head == nil {
            outcome.error = headLines.incompleteHeadError(url: request.url)
        }
        let isConnected = handle.offset(for: CURLINFO_PRETRANSFER_TIME_T) > 0
        outcome.isUnreachable =
            outcome.error != nil && headLines.byteCount == 0 && (!isConnected || code == CURLE_OPERATION_TIMEDOUT)
        outcome.startTime = startTime
        outcome.endTime = time.uptime
        outcome.redirectTarget = redirectTarget
        outcome.hasUnrequestedRange = hasUnrequestedRange
        outcome.body = code == CURLE_OK || !isCompleteWithoutBody ? body.consume() : []
        if let share, outcome.error == nil { share.markComplete() }
        outcome.share = outcome.error == nil ? share : nil
        share = nil
        return outcome
    }

    /// A Boolean value indicating whether the head is sufficient, as for a redirect or an error page.
    ///
    /// An error within the body of such a response is ignored.
    var isCompleteWithoutBody: Bool {
        guard let head, !request.accepts(head) else { return false }
        // The first 401 of Digest authentication is a challenge; libcurl sends another request.
        if head.status == 401, case .digest = request.credentials { return false }
        return true
    }

    /// The target of a redirect; that of libcurl is not the one of the standards.
    private var redirectTarget: String? {
        guard let head, head.isRedirect, let location = head.headers.values(for: "Location").first else { return nil }
        return ParsedURL.resolve(location, against: request.url)
    }

    private var metrics: FetchMetrics {
        var metrics = handle.metrics
        metrics.queued = queued
        metrics.resumedBytes = head?.status == 206 ? request.partialBody?.bytes.count ?? 0 : 0
        metrics.isReusedConnection = head != nil && handle.integer(for: CURLINFO_NUM_CONNECTS) == 0
        return metrics
    }
}
