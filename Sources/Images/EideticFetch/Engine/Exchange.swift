import CCurl
import EideticCore

/// A running exchange of a request and its response, used on the engine's thread only.
final class Exchange {
    /// The reasons to pause an exchange, during which no bytes are received.
    struct PauseReason: OptionSet {
        let rawValue: Int

        /// The reader of the body must catch up.
        static let reader = PauseReason(rawValue: 1)
        /// The priority of the download is suspended.
        static let suspended = PauseReason(rawValue: 2)
        /// The rate limit is reached.
        static let rate = PauseReason(rawValue: 4)
        /// The decoder must catch up; its turn comes again.
        static let decoding = PauseReason(rawValue: 8)
        /// The bodies in memory have reached their limit.
        static let memory = PauseReason(rawValue: 16)
    }

    /// The result of receiving a chunk of the body.
    enum ReceiveResult { case accepted, refused, paused }

    /// The largest size of a status line and its header section, in bytes.
    static let headLimit = 262_144
    /// The number of bytes of an ignored body, such as an error page, that are read so that the connection can be
    /// reused.
    static let ignoredBodyLimit = 65_536

    let request: ExchangeRequest
    /// The time in the queue.
    let queued: Duration
    let handle: EasyHandle
    var easy: UnsafeMutableRawPointer { handle.pointer }

    var head: ResponseHead?
    var body: [UInt8] = []
    /// The error with which the engine or a callback ended the exchange.
    private(set) var failure: EideticError?
    /// A Boolean value indicating whether the response has another range than requested.
    var hasUnrequestedRange = false
    var pauseReasons: PauseReason = [] {
        didSet {
            guard oldValue.isEmpty != pauseReasons.isEmpty else { return }
            if pauseReasons.isEmpty { pausedTime += clock.now - pausedSince } else { pausedSince = clock.now }
        }
    }
    /// The duration of all pauses that have ended.
    private(set) var pausedTime: Duration = .zero
    /// The start of the last pause.
    private(set) var pausedSince: Duration = .zero
    /// The rate limit of all exchanges together; `nil` for no limit.
    var rateLimiter: RateLimiter?
    /// The time of the last byte, by the engine's clock.
    var lastActivity: Duration
    let startTime: Duration
    /// A Boolean value indicating whether the exchange repeats another one of the same request.
    let isRepeated: Bool
    /// The time of day at which the exchange started.
    let requestTime: Timestamp
    let time: any TimeSource
    let stopCountAtStart: Int
    let clock: ActiveClock

    /// The part of the response that arrived slowly or fast, for the least rate.
    var rateWindow = RateWindow()
    /// The decoder of the body's content coding; `nil` if it has none.
    var decoder: BodyDecoder?
    /// A Boolean value indicating whether the first bytes of the body show whether it has the coding.
    var isCodingUncertain = false
    /// The exchanges whose decoders have pending bytes.
    let decodingList: DecodingList
    /// The time of the current turn of the engine, and the number of bytes that the decoder was given in it.
    var turn: Duration = .zero
    var decodedInTurn = 0
    /// The code with which libcurl ended the exchange while bytes were still to be decoded.
    var pendingCode: CURLcode?
    let bodyBudget: BodyBudget
    /// The share of the body in memory; `nil` for any other destination.
    var share: BodyShare?

    // The head and the body as they are received.
    var incomingHead = ResponseHead()
    var headBytes = 0
    var ignoredBytes = 0
    /// A Boolean value indicating whether the body is kept.
    var keepsBody = false
    var receivedBytes = 0
    /// The length of the complete body; `nil` if it is unknown.
    var expectedLength: Int?
    /// The required length of a body that is resumed; `nil` for any other body.
    var resumedLength: Int?
    /// A Boolean value indicating whether the beginning of the body has been accepted.
    var isRecognised = false

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
        self.bodyBudget = bodyBudget
        self.decodingList = decodingList
        lastActivity = clock.now
        startTime = previous?.startTime ?? clock.now
        isRepeated = previous != nil
        stopCountAtStart = clock.stopCount
        handle.errorBuffer.pointee = 0
    }

    /// Records the error of the exchange; the first one is kept.
    func fail(_ error: EideticError) { if failure == nil { failure = error } }

    /// Returns the exchange that runs on an easy handle.
    static func running(on easy: UnsafeMutableRawPointer) -> Exchange? {
        var context: UnsafeMutableRawPointer?
        eidetic_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}
