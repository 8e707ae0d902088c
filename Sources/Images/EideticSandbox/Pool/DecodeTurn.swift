package import EideticCore

/// The turn of one image, from its first process until its pixels are there.
package final class DecodeTurn: Sendable {
    private struct State {
        /// The memory that is reserved.
        var memory = 0
        /// The memory that the image waits for; `nil` if for none.
        var awaited: Int?
        var waitCount = 0
    }

    /// The turn of the image that the thread decodes.
    @TaskLocal static var current: DecodeTurn?

    /// The largest number of waits: for a preview or header, an animation and an image.
    private static let maximumWaitCount = 3

    private let turns: DecodeTurns
    private let origin: String
    private let context: JobContext
    private let state = Guarded(State())

    init(of turns: DecodeTurns, origin: String, context: JobContext) {
        self.turns = turns
        self.origin = origin
        self.context = context
    }

    package func end() { turns.end(origin, memory: state.withLock { $0.memory }) }

    /// Calls a function that decodes the image on this thread.
    ///
    /// - Throws: The errors of the function; if ``waitForMemory()`` returns `true` then, it is to be called again.
    package func perform<Value>(_ body: () throws(EideticError) -> Value) throws(EideticError) -> Value {
        let result: Result<Value, EideticError> = Self.$current.withValue(self) {
            do throws(EideticError) { return .success(try body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Reserves memory for the image, or ends the attempt because it has to wait.
    func reserve(_ need: Int) throws(EideticError) {
        let charge = turns.charge(for: need)
        let reserved = state.withLock { $0.memory }
        guard charge > reserved else { return }
        guard !turns.tryReserve(charge - reserved, origin: origin) else {
            return state.withLock { $0.memory = charge }
        }
        state.withLock { $0.awaited = charge }
        throw .cancelled
    }

    /// Waits for the memory for which an attempt has ended.
    ///
    /// - Returns: `true` if it is there; `false` if the attempt has ended for another reason.
    /// - Throws: `cancelled`; `decoderFailed` if the process announces more memory each time.
    package func waitForMemory() async throws(EideticError) -> Bool {
        let (charge, reserved, count) = state.withLock { state -> (Int?, Int, Int) in
            // All at once, so that none keeps a part of what another one waits for.
            defer { (state.awaited, state.memory, state.waitCount) = (nil, 0, state.waitCount + 1) }
            return (state.awaited, state.memory, state.waitCount)
        }
        turns.release(reserved, origin: origin)
        guard let charge else { return false }
        guard count < Self.maximumWaitCount else {
            throw EideticError(.decoderFailed, message: "the decoding process needs more memory at each attempt")
        }
        try await turns.reserve(charge, origin: origin, context: context)
        state.withLock { $0.memory = charge }
        return true
    }
}
