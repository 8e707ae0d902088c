package import EideticCore

/// A memory budget that concurrent decodes share.
///
/// A decode blocks until its reservation fits. A decode that exceeds the whole budget waits until no other runs and
/// then runs alone; the limits have bounded its size before. Reservations are granted in first-in, first-out order, so
/// that small decodes cannot starve a large one.
package final class DecodeMemoryBudget: Sendable {
    private struct State {
        var available: Int
        var nextTicket = 0
        var waitingTickets: [Int] = []
    }

    /// The budget of this process for decodes: 512 MiB.
    package static let shared = DecodeMemoryBudget(capacity: .mebibytes(512))

    /// The budget of this process for decoders of progressive previews, which live as long as their downloads: 128 MiB.
    package static let previews = DecodeMemoryBudget(capacity: .mebibytes(128))

    /// The time between two looks at the cancellation of a wait.
    private static let interval = Duration.milliseconds(50)
    private let capacity: Int
    private let monitor: Monitor<State>

    /// Creates a budget of `capacity` bytes.
    package init(capacity: ByteCount) {
        self.capacity = capacity.bytes
        monitor = Monitor(State(available: capacity.bytes))
    }

    /// The bytes that are not reserved; negative while immediate reservations exceed the budget.
    package var availableBytes: Int { monitor.withLock { $0.available } }

    package var waitingCount: Int { monitor.withLock { $0.waitingTickets.count } }

    /// Runs `body` with a reservation of `bytes` bytes, and waits for it if necessary.
    ///
    /// Blocks its thread, so only threads of a `WorkPool` may call it. A cancelled wait ends at the next release, or
    /// within 50 ms.
    ///
    /// - Throws: `cancelled`, and the errors of `body`.
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

    /// Runs `body` with an immediate reservation; later reservations wait until it is released.
    package func withImmediateReservation<Result>(
        of bytes: Int,
        body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        let needed = min(bytes, capacity)
        monitor.withLock { $0.available -= needed }
        defer { release(needed) }
        return try body()
    }

    /// Reserves `bytes` bytes if they are available, until ``release(_:)``.
    ///
    /// - Returns: `true` if the bytes were reserved; otherwise, `false`.
    package func tryReserve(_ bytes: Int) -> Bool {
        monitor.withLock { state in
            guard state.available >= bytes else { return false }
            state.available -= bytes
            return true
        }
    }

    private func wait(for needed: Int, context: JobContext) throws(EideticError) {
        let start = SystemTime().uptime
        defer { context.addWaitingTime(SystemTime().uptime - start) }
        let ticket = monitor.withLock { state in
            defer { state.nextTicket += 1 }
            state.waitingTickets.append(state.nextTicket)
            return state.nextTicket
        }
        var decision: Bool?
        while decision == nil {
            decision = monitor.wait(for: Self.interval) { state -> Bool? in
                guard !context.isCancelled else {
                    state.waitingTickets.removeAll { $0 == ticket }
                    return false
                }
                guard state.waitingTickets.first == ticket, state.available >= needed else { return nil }
                state.waitingTickets.removeFirst()
                state.available -= needed
                return true
            }
        }
        // The next reservation may fit beside this one.
        monitor.broadcast()
        guard decision == true else { throw .cancelled }
    }

    /// Releases reserved bytes and wakes the decodes that wait.
    package func release(_ bytes: Int) {
        monitor.withLock { $0.available += bytes }
        monitor.broadcast()
    }
}
