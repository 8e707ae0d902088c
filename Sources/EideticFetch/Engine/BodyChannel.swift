import EideticCore

/// Carries a body from the engine to one reader, and holds the engine back when the reader is behind.
final class BodyChannel: Sendable {
    private struct State {
        var head: ResponseHead?
        var bytes: [UInt8] = []
        var isFull = false
        var outcome: ExchangeOutcome?
        var reader: CheckedContinuation<Void, Never>?
    }

    /// What a reader finds.
    enum Event {
        /// A piece of the body; `wasFull` where the engine waits to be told to go on.
        case bytes([UInt8], wasFull: Bool)
        case end(ExchangeOutcome)
    }

    /// Above so many bytes the engine waits for the reader.
    static let capacity = 262_144

    private let state = Guarded(State())

    /// The head, once the answer is known to be what was asked for.
    var head: ResponseHead? { state.withLock { $0.head } }

    /// Whether a piece of so many bytes may come now; where not, the reader is behind, and says when it has caught up.
    func hasRoom(for count: Int) -> Bool {
        state.withLock { state in
            let hasRoom = state.bytes.isEmpty || state.bytes.count + count <= Self.capacity
            if !hasRoom { state.isFull = true }
            return hasRoom
        }
    }

    /// Takes a piece from the engine.
    func append(_ chunk: UnsafeRawBufferPointer) {
        let reader = state.withLock { state in
            state.bytes.append(contentsOf: chunk)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Tells the reader what kind of answer comes.
    func open(with head: ResponseHead) { update { $0.head = head } }

    /// Tells the reader that no more comes.
    func finish(with outcome: ExchangeOutcome) { update { $0.outcome = outcome } }

    /// Suspends until the head is there, or the exchange is over: then gives what came of it.
    func waitForHead() async -> ExchangeOutcome? {
        await wait { $0.head != nil || $0.outcome != nil }
        return state.withLock { $0.head == nil ? $0.outcome : nil }
    }

    /// Suspends until there is a piece of the body, or its end.
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
        while !state.withLock({ isReady($0) }) {
            await withCheckedContinuation { continuation in
                let isReadyNow = state.withLock { state in
                    if !isReady(state) { state.reader = continuation }
                    return isReady(state)
                }
                if isReadyNow { continuation.resume() }
            }
        }
    }

    private func update(_ body: @Sendable (inout State) -> Void) {
        let reader = state.withLock { state in
            body(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }
}
