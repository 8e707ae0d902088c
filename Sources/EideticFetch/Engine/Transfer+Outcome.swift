import CCurl
import EideticCore

extension Transfer {
    /// What came of the exchange, after libcurl ended it with `code`.
    func outcome(_ code: CURLcode) -> TransferOutcome {
        if code == CURLE_OK, failure == nil { finishBody() }
        dropFile()
        var outcome = TransferOutcome(head: head, measured: Measured(metrics))
        outcome.wasStopped = clock.stops != stopsAtStart
        outcome.wasHeld = wasHeld
        outcome.error = failure ?? (code == CURLE_OK || hasAnswer ? nil : error(for: code))
        outcome.redirect = string(CURLINFO_REDIRECT_URL) ?? target
        outcome.isWrongRange = isWrongRange
        outcome.body = takeBody()
        return outcome
    }

    /// Whether the head says it all: how the body of a redirect or of an error page ends is no failure of its own.
    var hasAnswer: Bool {
        guard let head, !head.isSuccess else { return false }
        // With the first 401 a server only asks for the proof.
        if head.status == 401, case .digest = order.credentials { return false }
        return true
    }

    /// Where a redirect leads whose body broke off: then libcurl does not say it.
    private var target: String? {
        guard let head, head.isRedirect, let location = head.headers["Location"] else { return nil }
        return ParsedURL.text(of: location, from: order.url)
    }

    private var metrics: FetchMetrics {
        var metrics = FetchMetrics()
        metrics.queued = queued
        metrics.resumedBytes = head?.status == 206 ? order.partial?.bytes.count ?? 0 : 0
        metrics.nameLookup = duration(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = duration(CURLINFO_CONNECT_TIME_T)
        metrics.tls = duration(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = duration(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = duration(CURLINFO_TOTAL_TIME_T)
        metrics.bodyBytes = Int(offset(CURLINFO_SIZE_DOWNLOAD_T))
        metrics.headerBytes = long(CURLINFO_HEADER_SIZE)
        metrics.reusedConnection = head != nil && long(CURLINFO_NUM_CONNECTS) == 0
        metrics.httpVersion = httpVersion
        if let address = string(CURLINFO_PRIMARY_IP), !address.isEmpty {
            let host = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
            metrics.remoteAddress = "\(host):\(long(CURLINFO_PRIMARY_PORT))"
        }
        return metrics
    }

    private var httpVersion: String {
        switch long(CURLINFO_HTTP_VERSION) {
        case 1: "HTTP/1.0"
        case 2: "HTTP/1.1"
        case 3: "HTTP/2"
        default: ""
        }
    }

    private func duration(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        eidetic_curl_get_offset(easy, info, &value)
        return Int64(value)
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        eidetic_curl_get_long(easy, info, &value)
        return value
    }

    private func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        eidetic_curl_get_string(easy, info, &value)
        return value.map { String(cString: $0) }
    }
}
