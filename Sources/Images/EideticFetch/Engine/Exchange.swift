import CCurl
import EideticCore

/// A running exchange of a request and its response, used on the engine's thread only.
final class Exchange: CurlReceiver {
    /// The reasons to pause an exchange, during which no bytes are received.
    struct PauseReason: OptionSet {
        let rawValue: Int

        /// The reader of the body must catch up.
        static let reader = PauseReason(rawValue: 1)
        /// The priority of the download is suspended.
        static let suspended = PauseReason(rawValue: 2)
        static let rate = PauseReason(rawValue: 4)
        /// The decoder must catch up; its turn comes again.
        static let decoding = PauseReason(rawValue: 8)
        /// The bodies in memory have reached their limit.
        static let memory = PauseReason(rawValue: 16)
    }

    /// The number of bytes of an ignored body, such as an error page, that are read so that the connection can be
    /// reused.
    static let ignoredBodyLimit = 65_536

    let request: ExchangeRequest
    let queued: Duration
    let handle: EasyHandle
    var easy: UnsafeMutableRawPointer { handle.pointer }

    /// The error with which the engine or a callback ended the exchange.
    private(set) var failure: EideticError?
    /// A Boolean value indicating whether the response has another range than requested.
    var hasUnrequestedRange = false
    var pauseReasons: PauseReason = [] {
        didSet {
            guard oldValue.isEmpty != pauseReasons.isEmpty else { return }
            if pauseReasons.isEmpty { timer.endPause(at: clock.now) } else { timer.pause(at: clock.now) }
        }
    }
    /// The rate limit of all exchanges together; `nil` for no limit.
    var rateLimiter: RateLimiter?
    var timer: ExchangeTimer
    /// The number of exchanges of the same request that this one repeats.
    let repetitionCount: Int
    /// The time of day at which the exchange started.
    let requestTime: Timestamp
    /// The uptime at which the exchange started.
    let startTime: Duration
    let time: any TimeSource
    let stopCountAtStart: Int
    let clock: ActiveClock

    var decoding = BodyDecoding()
    /// The exchanges whose decoders have pending bytes.
    let decodingList: DecodingList
    /// The code with which libcurl ended the exchange while bytes were still to be decoded.
    var pendingCode: CURLcode?
    let bodyBudget: BodyBudget
    /// The share of the body in memory; `nil` for any other destination.
    var share: BodyShare?

    var headLines = HeadLineParser()
    var body = ReceivedBody()

    init(
        request: ExchangeRequest,
        queued: Duration,
        handle: EasyHandle,
        clock: ActiveClock,
        time: any TimeSource,
        bodyBudget: BodyBudget,
        decodingList: DecodingList,
        repeating previous: Exchange? = nil
    ) {
        self.request = request
        self.queued = queued
        self.handle = handle
        self.clock = clock
        self.time = time
        requestTime = time.now
        startTime = time.uptime
        self.bodyBudget = bodyBudget
        self.decodingList = decodingList
        timer = ExchangeTimer(repeating: previous?.timer, at: clock.now)
        repetitionCount = previous.map { $0.repetitionCount + 1 } ?? 0
        stopCountAtStart = clock.stopCount
        handle.errorBuffer.pointee = 0
    }

    /// The head of the response; `nil` if it is not complete.
    var head: ResponseHead? { headLines.isComplete ? headLines.head : nil }

    /// Records the error of the exchange; the first one is kept.
    func fail(_ error: EideticError) { if failure == nil { failure = error } }

    static func running(on easy: UnsafeMutableRawPointer) -> Exchange? {
        var context: UnsafeMutableRawPointer?
        eidetic_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Exchange {
    /// The least rate of the body that is larger than the limit of all bodies, while others wait for it.
    private static let minimumRateWhileOthersWait = 65_536

    /// Returns the time until the exchange times out; records the error if no time is left.
    func remainingTime() -> Duration {
        // Whoever keeps others waiting must hurry.
        let leastRate = share?.holdsOthers ?? false ? Self.minimumRateWhileOthersWait : 0
        let check = timer.check(at: clock.now, limits: request.fetchRequest, leastRate: leastRate)
        if let fault = check.fault, !isCompleteWithoutBody {
            let phase = head == nil ? "before the response" : "within the body"
            fail(EideticError(.timedOut, message: "\(request.origin): \(fault), \(phase) (\(request.url))"))
        }
        return check.remaining
    }
}

extension Exchange {
    /// Pauses the exchange until this reason, and every other one, has been removed.
    func addPause(_ reason: PauseReason) {
        guard !pauseReasons.contains(reason) else { return }
        pauseReasons.insert(reason)
        curl_easy_pause(easy, CURLPAUSE_RECV)
    }

    /// Resumes the exchange, unless another reason to pause it is left.
    ///
    /// libcurl delivers the bytes that it has buffered here, and reports only here that a callback refused them.
    ///
    /// - Returns: The code with which the exchange ends as it resumes; otherwise, `nil`.
    func removePause(_ reason: PauseReason) -> CURLcode? {
        guard pauseReasons.contains(reason) else { return nil }
        pauseReasons.remove(reason)
        return resume()
    }

    /// Resumes the exchange if no reason to pause it is left.
    ///
    /// - Returns: The code with which the exchange ends as it resumes; otherwise, `nil`.
    func resume() -> CURLcode? {
        timer.recordActivity(at: clock.now)
        guard pauseReasons.isEmpty else { return nil }
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        // An exchange without a connection, before its first byte or after its last one, cannot be paused.
        return code == CURLE_OK || code == CURLE_BAD_FUNCTION_ARGUMENT ? nil : code
    }

    /// A Boolean value indicating whether received bytes are still to be decoded.
    var hasPendingBytes: Bool { decoding.decoder?.hasPendingBytes ?? false }
}

extension Exchange {
    /// The largest number of repetitions of a request; Firefox has as many (`network.http.request.max-attempts`).
    static let repetitionLimit = 10

    /// Returns whether the request is sent once more, over a new connection.
    ///
    /// A server may end a connection while a request is on its way, for instance a kept one after a number of requests,
    /// or a new one because it is being restarted. libcurl sends the request again over other kept connections, and
    /// gives up after five. The server has not begun to answer, so an idempotent request may be repeated. A repetition
    /// that fails is repeated only if the last download of the origin that ended had a response, and for as long as the
    /// time-out without a byte, which each repetition would begin again.
    ///
    /// - SeeAlso: RFC 9112, section 9.3.1; RFC 9113, sections 6.8 and 8.7.
    func mayBeRepeated(after code: CURLcode, originAnswers: Bool) -> Bool {
        guard repetitionCount < (originAnswers ? Self.repetitionLimit : 1), failure == nil, headLines.byteCount == 0,
            FetchRequest.isIdempotent(request.redirect.method),
            !(400..<600).contains(handle.integer(for: CURLINFO_HTTP_CONNECTCODE)),
            repetitionCount == 0 || timer.activeTime(at: clock.now) < request.fetchRequest.timeout
        else { return false }
        switch code {
        // The end of a stream of HTTP/2, and of its connection, is that of a body, even before the head.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_PARTIAL_FILE: return true
        case CURLE_SSL_CONNECT_ERROR: return handle.isConnectionLostInHandshake
        // The stream alone was refused, unless its connection was kept and is ending.
        case CURLE_HTTP2_STREAM:
            return handle.integer(for: CURLINFO_NUM_CONNECTS) == 0
                || handle.message(for: code).hasPrefix("Connection died")
        default: return false
        }
    }
}
