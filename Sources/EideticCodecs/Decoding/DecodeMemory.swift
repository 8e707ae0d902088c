package import EideticCore

/// The memory that all decodes of the process may use at the same time.
///
/// A decode waits for its share. One that alone needs more than there is waits until no other runs, and then goes
/// alone: its size was checked against the limits before. Requests are served in the order in which they came, so that
/// small ones cannot keep a large one waiting for ever.
package final class DecodeMemory: Sendable {
    private struct State {
        var free: Int
        var nextTicket = 0
        var waiting: [Int] = []
    }

    /// The budget of this process: 512 MiB.
    package static let shared = DecodeMemory(capacity: .mebibytes(512))

    /// What previews keep while the bytes of their pictures come, however slowly: 128 MiB.
    package static let previews = DecodeMemory(capacity: .mebibytes(128))

    private let capacity: Int
    private let monitor: Monitor<State>

    /// Creates a budget.
    package init(capacity: ByteCount) {
        self.capacity = capacity.bytes
        monitor = Monitor(State(free: capacity.bytes))
    }

    /// The bytes that no decode uses; negative while some run that did not wait.
    package var free: Int { monitor.withLock { $0.free } }

    /// How many decodes wait.
    package var waiting: Int { monitor.withLock { $0.waiting.count } }

    /// Runs `body` with a share of `bytes`, once there is one.
    ///
    /// Blocks, so only threads of a `WorkPool` may call it. A cancelled wait ends when the next share is given back.
    ///
    /// - Throws: `cancelled`, and what `body` throws.
    package func withShare<Result>(
        _ bytes: Int,
        _ context: WorkContext,
        _ body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        let needed = min(bytes, capacity)
        try wait(for: needed, context)
        defer { release(needed) }
        return try body()
    }

    /// Runs `body` at once; the others wait until what it uses is free again.
    package func withoutWaiting<Result>(
        _ bytes: Int,
        _ body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        let needed = min(bytes, capacity)
        monitor.withLock { $0.free -= needed }
        defer { release(needed) }
        return try body()
    }

    /// Takes so much at once, to be given back later; false where it is not there.
    func take(_ bytes: Int) -> Bool {
        monitor.withLock { state in
            guard state.free >= bytes else { return false }
            state.free -= bytes
            return true
        }
    }

    /// Gives back what was taken.
    func giveBack(_ bytes: Int) { release(bytes) }

    private func wait(for needed: Int, _ context: WorkContext) throws(EideticError) {
        let ticket = monitor.withLock { state in
            defer { state.nextTicket += 1 }
            state.waiting.append(state.nextTicket)
            return state.nextTicket
        }
        let isGranted = monitor.wait { state -> Bool? in
            guard !context.isCancelled else {
                state.waiting.removeAll { $0 == ticket }
                return false
            }
            guard state.waiting.first == ticket, state.free >= needed else { return nil }
            state.waiting.removeFirst()
            state.free -= needed
            return true
        }
        // The next one in the queue may fit beside this one.
        monitor.broadcast()
        guard isGranted else { throw .cancelled }
    }

    private func release(_ bytes: Int) {
        monitor.withLock { $0.free += bytes }
        monitor.broadcast()
    }
}
