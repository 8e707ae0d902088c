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
        if code == CURLE_OK, outcome.error == nil, head == nil { outcome.error = lostHeadError }
        let isConnected = offset(for: CURLINFO_PRETRANSFER_TIME_T) > 0
        outcome.isUnreachable =
            outcome.error != nil && headBytes == 0 && (!isConnected || code == CURLE_OPERATION_TIMEDOUT)
        outcome.redirectTarget = redirectTarget
        outcome.hasUnrequestedRange = hasUnrequestedRange
        outcome.body = code == CURLE_OK || !isCompleteWithoutBody ? consumeBody() : []
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
        var metrics = FetchMetrics()
        metrics.queued = queued
        metrics.resumedBytes = head?.status == 206 ? request.partialBody?.bytes.count ?? 0 : 0
        metrics.nameLookup = duration(for: CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = duration(for: CURLINFO_CONNECT_TIME_T)
        metrics.tls = duration(for: CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = duration(for: CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = duration(for: CURLINFO_TOTAL_TIME_T)
        metrics.bodyBytes = Int(offset(for: CURLINFO_SIZE_DOWNLOAD_T))
        metrics.headerBytes = integer(for: CURLINFO_HEADER_SIZE)
        metrics.isReusedConnection = head != nil && integer(for: CURLINFO_NUM_CONNECTS) == 0
        metrics.httpVersion = httpVersion
        if let address = string(for: CURLINFO_PRIMARY_IP), !address.isEmpty {
            let host = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
            metrics.remoteAddress = "\(host):\(integer(for: CURLINFO_PRIMARY_PORT))"
        }
        return metrics
    }

    private var httpVersion: String {
        switch integer(for: CURLINFO_HTTP_VERSION) {
        case 1: "HTTP/1.0"
        case 2: "HTTP/1.1"
        case 3: "HTTP/2"
        default: ""
        }
    }

    private func duration(for info: CURLINFO) -> Duration { .microseconds(offset(for: info)) }

    func offset(for info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        eidetic_curl_get_offset(easy, info, &value)
        return Int64(value)
    }

    func integer(for info: CURLINFO) -> Int {
        var value = 0
        eidetic_curl_get_long(easy, info, &value)
        return value
    }

    private func string(for info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        eidetic_curl_get_string(easy, info, &value)
        return value.map { String(cString: $0) }
    }
}
