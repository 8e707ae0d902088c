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
