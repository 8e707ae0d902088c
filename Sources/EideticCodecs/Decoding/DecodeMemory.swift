package import EideticCore

/// The memory that all decodes of the process may use at the same time.
///
/// A decode waits for its share. One that alone needs more than there is waits until no other runs, and then goes
/// alone: its size was checked against the limits before. Requests are served in the order in which they came, so that
/// small ones cannot keep a large one waiting for ever.
package final class DecodeMemoryBudget: Sendable {
    private struct State {
        var available: Int
        var nextTicket = 0
        var waitingTickets: [Int] = []
    }

    /// The budget of this process: 512 MiB.
    package static let shared = DecodeMemoryBudget(capacity: .mebibytes(512))

    /// What previews keep while the bytes of their pictures come, however slowly: 128 MiB.
    package static let previews = DecodeMemoryBudget(capacity: .mebibytes(128))

    private let capacity: Int
    private let monitor: Monitor<State>

    /// Creates a budget.
    package init(capacity: ByteCount) {
        self.capacity = capacity.bytes
        monitor = Monitor(State(available: capacity.bytes))
    }

    /// The bytes that no decode uses; negative while some run that did not wait.
    package var availableBytes: Int { monitor.withLock { $0.available } }

    /// How many decodes wait.
    package var waitingCount: Int { monitor.withLock { $0.waitingTickets.count } }

    /// Runs `body` with a share of `bytes`, once there is one.
    ///
    /// Blocks, so only threads of a `WorkPool` may call it. A cancelled wait ends when the next share is given back.
    ///
    /// - Throws: `cancelled`, and what `body` throws.
    package func withReservation<Result>(
        of bytes: Int,
        context: JobContext,
        body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        let needed = min(bytes, capacity)
        try wait(for: needed, context: context)
        defer { release(needed) }
        return try body()
    }

    /// Runs `body` at once; the others wait until what it uses is free again.
    package func withImmediateReservation<Result>(
        of bytes: Int,
        body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        let needed = min(bytes, capacity)
        monitor.withLock { $0.available -= needed }
        defer { release(needed) }
        return try body()
    }

    /// Takes so much at once, to be given back later; false where it is not there.
    func tryReserve(_ bytes: Int) -> Bool {
        monitor.withLock { state in
            guard state.available >= bytes else { return false }
            state.available -= bytes
            return true
        }
    }

    /// Gives back what was taken.
    func giveBack(_ bytes: Int) { release(bytes) }

    private func wait(for needed: Int, context: JobContext) throws(EideticError) {
        let ticket = monitor.withLock { state in
            defer { state.nextTicket += 1 }
            state.waitingTickets.append(state.nextTicket)
            return state.nextTicket
        }
        let isGranted = monitor.wait { state -> Bool? in
            guard !context.isCancelled else {
                state.waitingTickets.removeAll { $0 == ticket }
                return false
            }
            guard state.waitingTickets.first == ticket, state.available >= needed else { return nil }
            state.waitingTickets.removeFirst()
            state.available -= needed
            return true
        }
        // The next one in the queue may fit beside this one.
        monitor.broadcast()
        guard isGranted else { throw .cancelled }
    }

    private func release(_ bytes: Int) {
        monitor.withLock { $0.available += bytes }
        monitor.broadcast()
    }
}
