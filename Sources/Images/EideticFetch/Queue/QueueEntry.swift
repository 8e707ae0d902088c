import EideticCore

/// An exchange that waits or runs.
///
/// Safe to send, like `OriginQueue`: an entry belongs to one queue and is only used under the lock of that queue.
final class QueueEntry: @unchecked Sendable {
    enum State { case waiting, running, ended }

    /// The number of ranks: one for each priority, and the highest one for exchanges that follow a redirect.
    static let rankCount = LoadPriority.allCases.count + 1

    let id: UInt64
    let context: JobContext
    /// The request; `nil` once it has started or been cancelled, as the entry may stay in its lane longer.
    private var request: ExchangeRequest?
    /// The queue of the origin, which exists as long as one of its entries waits or runs.
    unowned let originQueue: OriginQueue
    let followsRedirect: Bool
    /// The position in the order of arrival.
    let sequenceNumber: UInt64
    let enqueueTime: Duration
    var rank = 0
    var state = State.waiting
    var isCancelled = false

    init(_ request: ExchangeRequest, originQueue: OriginQueue, sequenceNumber: UInt64, enqueueTime: Duration) {
        id = request.id
        context = request.context
        followsRedirect = request.redirect.redirectCount > 0
        self.request = request
        self.originQueue = originQueue
        self.sequenceNumber = sequenceNumber
        self.enqueueTime = enqueueTime
        rank = currentRank
    }

    var currentRank: Int { followsRedirect ? Self.rankCount - 1 : context.priority.rank }

    /// Returns the request the first time it is called, and `nil` afterwards.
    func consumeRequest() -> ExchangeRequest? {
        defer { request = nil }
        return request
    }
}
