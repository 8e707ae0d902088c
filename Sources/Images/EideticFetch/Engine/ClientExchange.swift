import EideticCore
import EideticHTTP

/// One exchange over a network of the user, and the checks of its response.
struct ClientExchange: Sendable {
    let request: ExchangeRequest
    let options: EngineOptions
    let queued: Duration

    /// Sends the request over `client`, and returns the outcome.
    func outcome(from client: any NetworkClient) async -> ExchangeOutcome {
        let requestTime = options.time.now
        do throws(EideticError) {
            try request.validate()
            let response = try await client.response(to: message)
            return outcome(of: response, requestTime: requestTime)
        } catch {
            var outcome = ExchangeOutcome(error: error)
            outcome.isUnreachable = [.hostNotFound, .connectionRefused, .timedOut].contains(error.code)
            return outcome
        }
    }

    private var message: FetchRequest {
        get throws(EideticError) {
            let isFirst = request.redirect.redirectCount == 0
            let original = request.fetchRequest
            var message = isFirst ? original : try FetchRequest(url: request.url)
            message.byteLimit = original.byteLimit
            message.requiresImage = false
            message.timeout = original.timeout
            message.totalTimeout = original.totalTimeout
            message.minimumBytesPerSecond = original.minimumBytesPerSecond
            message.allowsInvalidCertificates = original.allowsInvalidCertificates
            message.usesCookies = original.usesCookies
            message.method = request.redirect.method
            message.body = request.redirect.body
            message.headers = request.headers
            message.credentials = request.credentials
            // Conditions are among the header fields; caches are asked by the downloader alone.
            message.conditions = HTTPHeaders()
            message.redirectEntries = nil
            message.modifications = nil
            if message.headers["User-Agent"] == nil { message.headers["User-Agent"] = options.curl.userAgent }
            return message
        }
    }

    private func outcome(of response: FetchResponse, requestTime: Timestamp) -> ExchangeOutcome {
        var head = ResponseHead()
        head.status = response.status
        head.headers = response.headers
        head.requestTime = requestTime
        head.responseTime = options.time.now
        var metrics = response.metrics
        metrics.queued = queued
        var outcome = ExchangeOutcome(head: head, sharedMetrics: SharedMetrics(metrics))
        if head.isRedirect, let location = head.headers.values(for: "Location").first {
            outcome.redirectTarget = ParsedURL.resolve(location, against: request.url)
        }
        guard request.keepsBody(of: head) else { return outcome }
        do throws(EideticError) { try deliver(response.bytes, head: head, to: &outcome) } catch {
            if request.accepts(head) { outcome.error = error }
        }
        return outcome
    }

    /// Checks a body, and passes it to the channel or the outcome.
    private func deliver(
        _ bytes: [UInt8],
        head: ResponseHead,
        to outcome: inout ExchangeOutcome
    ) throws(EideticError) {
        try check(bytes, head: head, of: &outcome)
        request.onProgress(LoadProgress(received: bytes.count, expected: bytes.count))
        if let channel = request.channel {
            channel.open(with: head)
            if !bytes.isEmpty { bytes.withUnsafeBytes { channel.append($0) } }
        } else {
            let share = options.bodyBudget.makeShare(for: request.context)
            _ = share.add(bytes.count)
            share.markComplete()
            outcome.body = bytes
            outcome.share = share
        }
    }

    private func check(_ bytes: [UInt8], head: ResponseHead, of outcome: inout ExchangeOutcome) throws(EideticError) {
        if head.status == 206, request.partialBody != nil || request.headers["Range"] == nil && head.isPart {
            outcome.hasUnrequestedRange = true
            throw EideticError(.badResponse, message: "\(request.url): the server sent a part of the body")
        }
        let limit = request.fetchRequest.byteLimit
        guard bytes.count <= limit.bytes else {
            let message = "\(request.url): the body is longer than the limit; the limit is \(limit.bytes) bytes"
            throw EideticError(.limitExceeded, message: message)
        }
        guard request.requiresImage else { return }
        guard case .format = ImageFormat.detect(in: bytes) else {
            throw .notAnImage(url: request.url, headers: head.headers, isEmpty: bytes.isEmpty, status: head.status)
        }
    }
}
