import EideticCore

/// A channel that passes a body from the engine to one reader, with back-pressure.
final class BodyChannel: Sendable {
    private struct State {
        var head: ResponseHead?
        var bytes: [UInt8] = []
        var isFull = false
        var outcome: ExchangeOutcome?
        var reader: Waiter<Void>?
    }

    /// An event for the reader.
    enum Event {
        /// A chunk of the body; `wasFull` is `true` if the engine has paused the exchange and must resume it.
        case bytes([UInt8], wasFull: Bool)
        case end(ExchangeOutcome)
    }

    /// The number of unread bytes above which the engine pauses the exchange.
    static let capacity = 262_144

    private let state = Guarded(State())

    /// The head of the response; `nil` until the response is known to be acceptable.
    var head: ResponseHead? { state.withLock { $0.head } }

    /// The bytes that wait for the reader.
    var unreadBytes: [UInt8] { state.withLock { $0.bytes } }

    /// Returns a Boolean value indicating whether a chunk of `count` bytes fits.
    ///
    /// If it does not, the channel is marked as full, and the reader has the exchange resumed.
    func hasRoom(for count: Int) -> Bool {
        state.withLock { state in
            let hasRoom = state.bytes.isEmpty || state.bytes.count + count <= Self.capacity
            if !hasRoom { state.isFull = true }
            return hasRoom
        }
    }

    /// Appends a chunk from the engine.
    func append(_ chunk: UnsafeRawBufferPointer) {
        let reader = state.withLock { state in
            state.bytes.append(contentsOf: chunk)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: ())
    }

    /// Opens the channel with the head of an acceptable response.
    func open(with head: ResponseHead) { update { $0.head = head } }

    /// Closes the channel after the last chunk.
    func finish(with outcome: ExchangeOutcome) { update { $0.outcome = outcome } }

    /// Waits until the head is available, or the exchange has ended.
    ///
    /// - Returns: The outcome of an exchange that ended without an acceptable head; otherwise, `nil`.
    func waitForHead() async -> ExchangeOutcome? {
        await wait { $0.head != nil || $0.outcome != nil }
        return state.withLock { $0.head == nil ? $0.outcome : nil }
    }

    /// Waits for a chunk of the body, or its end.
    func next() async -> Event {
        while true {
            await wait { !$0.bytes.isEmpty || $0.outcome != nil }
            let event = state.withLock { state -> Event? in
                if state.bytes.isEmpty { return state.outcome.map(Event.end) }
                defer {
                    state.bytes = []
                    state.isFull = false
                }
                return .bytes(state.bytes, wasFull: state.isFull)
            }
            if let event { return event }
        }
    }

    private func wait(until isReady: @Sendable (State) -> Bool) async {
        while true {
            let reader = Waiter<Void>()
            let isReadyNow = state.withLock { state in
                if !isReady(state) { state.reader = reader }
                return isReady(state)
            }
            if isReadyNow { return }
            // A cancelled exchange ends by itself.
            await reader.wait {}
        }
    }

    private func update(_ body: @Sendable (inout State) -> Void) {
        let reader = state.withLock { state in
            body(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: ())
    }
}
