public import EideticCore
package import EideticHTTP

/// A bounded list of requests that failed permanently and are not sent again for a limited time.
///
/// Each entry expires after the lifetime of its kind of failure. The list is cleared when the network changes. The key
/// of an entry is the whole request, so a failure of one user's request does not block another user's.
public final class FailureList: Sendable {
    /// A permanent failure that has not expired.
    public struct Entry: Sendable {
        /// The request that failed.
        public let request: FetchRequest
        /// The error that the request failed with.
        public let error: EideticError
        /// The time until the entry expires.
        public let remaining: Duration
    }

    private struct Failure {
        let error: EideticError
        let expires: Duration
        let sequenceNumber: UInt64
    }

    private struct State {
        var failures: [FetchRequest: Failure] = [:]
        var order: [(request: FetchRequest, sequenceNumber: UInt64)] = []
        var lastSequenceNumber: UInt64 = 0
    }

    private let policy: FailurePolicy
    let time: any TimeSource
    private let state = Guarded(State())

    init(policy: FailurePolicy, time: any TimeSource) {
        self.policy = policy
        self.time = time
    }

    /// Returns the failure of `request`, or `nil` if none is listed.
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

    /// All failures that have not expired, the oldest first.
    public var entries: [Entry] {
        state.withLock { [time] state in
            let now = time.uptime
            let failures = state.failures.sorted { $0.value.sequenceNumber < $1.value.sequenceNumber }
            return failures.compactMap { request, failure in
                let remaining = failure.expires - now
                return remaining > .zero ? Entry(request: request, error: failure.error, remaining: remaining) : nil
            }
        }
    }

    /// Removes the failure of `request`.
    public func remove(_ request: FetchRequest) {
        let key = request.failureKey
        state.withLock { $0.failures[key] = nil }
    }

    /// Removes all failures.
    public func removeAll() { state.withLock { $0 = State() } }

    /// Records the failure of `request`, if the policy has a lifetime for it.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - request: The request.
    ///   - limit: The time for which the response allows to remember it; `nil` without a limit.
    func record(_ error: EideticError, for request: FetchRequest, limit: Duration?) {
        let consequences = FailureConsequences(of: error, policy: policy)
        guard var lifetime = consequences.lifetime, policy.capacity > 0 else { return }
        if let limit { lifetime = min(lifetime, limit) }
        guard lifetime > .zero else { return remove(request) }
        let key = request.failureKey
        state.withLock { [time, policy] state in
            state.lastSequenceNumber += 1
            let number = state.lastSequenceNumber
            state.failures[key] = Failure(error: error, expires: time.uptime + lifetime, sequenceNumber: number)
            state.order.append((key, number))
            Self.trim(&state, to: policy.capacity)
        }
    }

    /// A Boolean value indicating whether no failure is listed, expired ones included.
    var isEmpty: Bool { state.withLock { $0.failures.isEmpty } }

    /// Throws the error that `request` failed with, if it is listed.
    func check(_ request: FetchRequest) throws(EideticError) {
        guard let entry = entry(for: request) else { return }
        let seconds = Int(entry.remaining.inSeconds.rounded(.up))
        throw entry.error.remembered(
            message: "\(entry.error.message) (remembered; the request is not sent again for \(seconds) s)"
        )
    }

    /// Removes the oldest entries.
    ///
    /// `order` may contain entries that have been replaced or removed since.
    private static func trim(_ state: inout State, to capacity: Int) {
        var dropped = 0
        while state.failures.count > capacity || state.order.count > 2 * capacity + 16, dropped < state.order.count {
            let oldest = state.order[dropped]
            if state.failures[oldest.request]?.sequenceNumber == oldest.sequenceNumber {
                state.failures[oldest.request] = nil
            }
            dropped += 1
        }
        state.order.removeFirst(dropped)
    }

    /// Throws the error that a request failed with permanently before, unless it ignores that or asks for a new
    /// response.
    func checkUnlessIgnored(_ request: FetchRequest) throws(EideticError) {
        guard request.isGet, !request.ignoresFailureList, !isEmpty, !request.cacheControl.refusesCached else { return }
        try check(request)
    }

    /// Records the failure of a request, for no longer than the responses allow; a remembered one is not extended.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - request: The request.
    ///   - responses: The redirects that were followed, and the response that failed; none if no response arrived.
    package func record(
        _ error: EideticError,
        of request: FetchRequest,
        after responses: [ResponseFreshness.Response]
    ) {
        guard request.isGet, !error.isRemembered, !request.cacheControl.noStore else { return }
        let now = time.now
        let limits = responses.compactMap { ResponseFreshness.explicitRemainder(of: $0, at: now) }
        record(error, for: request, limit: limits.min())
    }

    func recordSuccess(of request: FetchRequest) { if request.ignoresFailureList { remove(request) } }
}

extension FetchRequest {
    /// The request without the options that a permanent failure does not depend on.
    var failureKey: FetchRequest {
        var key = self
        key.ignoresFailureList = false
        key.timeout = .seconds(15)
        key.totalTimeout = nil
        key.conditions = [:]
        key.redirectEntries = nil
        key.keepsPart = true
        if !key.headers.isEmpty { key.headers = key.headers.filter { !CacheControl.isRequestField($0) } }
        return key
    }
}

extension EideticError {
    /// Returns this error for a request that is not sent because of it.
    func remembered(message: String) -> EideticError {
        var error = replacingMessage(with: message)
        error.isRemembered = true
        return error
    }
}
