/// The body of a response as far as it was received.
struct ReceivedBody {
    /// The bytes that are collected in memory, or wait until the beginning of the body is recognised.
    var bytes: [UInt8] = []
    /// The number of bytes that were delivered, with those of a body that is resumed.
    var receivedCount = 0
    /// The number of bytes that were received and not kept.
    var ignoredCount = 0
    /// The length of the complete body; `nil` if it is unknown.
    var expectedLength: Int?
    /// The required length of a body that is resumed; `nil` for any other body.
    var resumedLength: Int?
    var isKept = false
    /// A Boolean value indicating whether the beginning of the body has been accepted.
    var isRecognised = false

    /// Starts the body of another response, which may continue a partial one.
    mutating func start(with partialBody: [UInt8] = [], resumedLength: Int? = nil) {
        bytes = partialBody
        receivedCount = partialBody.count
        expectedLength = nil
        self.resumedLength = resumedLength
    }

    /// Returns the bytes without a copy, and removes them.
    mutating func consume() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

/// The decoding of a body's content codings, in turns of the engine: one body must not hold its only thread.
struct BodyDecoding {
    /// The largest number of bytes, encoded and decoded ones together, that one body is given in one turn.
    static let share = 262_144

    /// The decoder; `nil` if the body has no coding.
    var decoder: BodyDecoder?
    /// A Boolean value indicating whether the first bytes of the body show whether it has the coding.
    var isUncertain = false
    /// The time of the current turn, by the engine's clock, and the number of bytes that it was given.
    private var turn: Duration = .zero
    private var byteCount = 0

    /// Starts a turn, unless the clock has not advanced, which it does between two turns only.
    mutating func startTurn(at now: Duration) {
        if turn != now { continueInNewTurn(at: now) }
    }

    mutating func continueInNewTurn(at now: Duration) {
        turn = now
        byteCount = 0
    }

    var hasEndedTurn: Bool { byteCount >= Self.share }

    mutating func count(_ count: Int) { byteCount += count }
}
