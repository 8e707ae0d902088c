public import EideticCore

/// The list of URLs that failed for good and are not asked again for a while (L07).
///
/// It is bounded, forgets each entry after the lifetime of its kind of failure, and is cleared when the network comes back.
/// Entries belong to a whole request: what one user may not see does not keep another from asking.
public final class FailureList: Sendable {
    /// A failure that is remembered.
    public struct Entry: Sendable {
        /// What was asked.
        public let request: FetchRequest
        /// How it failed.
        public let error: EideticError
        /// How long it is remembered from now on.
        public let remaining: Duration
    }

    private struct Failure {
        let error: EideticError
        let expires: Duration
        let sequenceNumber: UInt64
    }

    private struct State {
        var failures: [FetchRequest: Failure] = [:]
        var order: [(request: FetchRequest, number: UInt64)] = []
        var lastSequenceNumber: UInt64 = 0
    }

    private let policy: FailurePolicy
    private let time: any TimeSource
    private let state = Guarded(State())

    init(policy: FailurePolicy, time: any TimeSource) {
        self.policy = policy
        self.time = time
    }

    /// The failure of `request`, where it is remembered now.
    public func entry(for request: FetchRequest) -> Entry? {
        let key = request.failureKey
        return state.withLock { [time] state in
            guard let failure = state.failures[key] else { return nil }
            let remaining = failure.expires - time.uptime
            if remaining <= .zero {
                state.failures[key] = nil
                return nil
            }
            return Entry(request: key, error: failure.error, remaining: remaining)
        }
    }

    /// All failures that are remembered now, the oldest first.
    public var entries: [Entry] {
        state.withLock { [time] state in
            let now = time.uptime
            return state.failures.sorted { $0.value.sequenceNumber < $1.value.sequenceNumber }.compactMap {
                request,
                failure in
                let remaining = failure.expires - now
                return remaining > .zero ? Entry(request: request, error: failure.error, remaining: remaining) : nil
            }
        }
    }

    /// Forgets the failure of `request`.
    public func remove(_ request: FetchRequest) {
        let key = request.failureKey
        state.withLock { $0.failures[key] = nil }
    }

    /// Forgets all failures.
    public func removeAll() { state.withLock { $0 = State() } }

    /// Remembers how `request` failed, where that is of the kind to be remembered.
    package func record(_ error: EideticError, for request: FetchRequest) {
        guard let lifetime = policy.lifetime(of: error), policy.capacity > 0 else { return }
        let key = request.failureKey
        state.withLock { [time, policy] state in
            state.lastSequenceNumber += 1
            state.failures[key] = Failure(
                error: error,
                expires: time.uptime + lifetime,
                sequenceNumber: state.lastSequenceNumber
            )
            state.order.append((key, state.lastSequenceNumber))
            Self.trim(&state, to: policy.capacity)
        }
    }

    /// Throws where `request` failed for good not long ago.
    package func check(_ request: FetchRequest) throws(EideticError) {
        guard let entry = entry(for: request) else { return }
        let seconds = Int(entry.remaining.inSeconds.rounded(.up))
        throw EideticError(
            .refused,
            message: "failed before and is not asked again for \(seconds) s: \(entry.error.message)",
            httpStatus: entry.error.httpStatus
        )
    }

    /// Forgets the oldest; the order may hold entries that were replaced or removed since.
    private static func trim(_ state: inout State, to capacity: Int) {
        var dropped = 0
        while state.failures.count > capacity || state.order.count > 2 * capacity + 16, dropped < state.order.count {
            let oldest = state.order[dropped]
            if state.failures[oldest.request]?.sequenceNumber == oldest.number { state.failures[oldest.request] = nil }
            dropped += 1
        }
        state.order.removeFirst(dropped)
    }
}

extension FetchRequest {
    /// The request as far as its failure depends on it.
    var failureKey: FetchRequest {
        var key = self
        key.ignoresFailureList = false
        key.timeout = .seconds(15)
        key.totalTimeout = nil
        return key
    }
}
