import EideticCore

/// An exchange that waits or runs.
///
/// Safe to send, as `QueueHost` is: it belongs to a queue, and is touched under the lock that guards that.
final class QueueEntry: @unchecked Sendable {
    enum State { case waiting, running, ended }

    /// A rank for each priority, and the highest for those whose caller has had its turn already.
    static let rankCount = LoadPriority.allCases.count + 1

    let id: UInt64
    let context: JobContext
    /// Given away when it starts or is cancelled: the entry may stand in its lane for a while longer.
    private var request: ExchangeRequest?
    /// The queue has it as long as an entry of it waits or runs.
    unowned let originQueue: OriginQueue
    /// Whether it follows a redirect.
    let followsRedirect: Bool
    /// The number of its arrival.
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

    var currentRank: Int { followsRedirect ? Self.rankCount - 1 : context.priority.rawValue }

    /// Gives the order away, once.
    func consumeRequest() -> ExchangeRequest? {
        defer { request = nil }
        return request
    }
}

/// What waits for one origin, and how many run there.
final class OriginQueue: @unchecked Sendable {
    let origin: Origin
    var runningCount = 0
    private var lanes = Array(repeating: Lane(), count: QueueEntry.rankCount)

    init(_ origin: Origin) { self.origin = origin }

    /// Whether nothing runs and nothing waits, as far as was looked.
    var isIdle: Bool { runningCount == 0 && lanes.allSatisfy { $0.isEmpty } }

    func append(_ entry: QueueEntry) { lanes[entry.rank].append(entry) }

    func removeAll() { lanes = Array(repeating: Lane(), count: QueueEntry.rankCount) }

    /// What waits at one end of a lane.
    func entry(ofRank rank: Int, fromFront: Bool) -> QueueEntry? {
        while let entry = lanes[rank].entry(fromFront: fromFront) {
            if entry.state == .waiting { return entry }
            lanes[rank].removeEntry(fromFront: fromFront)
        }
        return nil
    }
}

/// Entries in their order of arrival; those that left already are skipped when they come to an end.
private struct Lane {
    private var entries: [QueueEntry] = []
    private var startIndex = 0

    var isEmpty: Bool { startIndex == entries.count }

    mutating func append(_ entry: QueueEntry) { entries.append(entry) }

    func entry(fromFront: Bool) -> QueueEntry? {
        guard startIndex < entries.count else { return nil }
        return fromFront ? entries[startIndex] : entries.last
    }

    mutating func removeEntry(fromFront: Bool) {
        guard fromFront else { entries.removeLast(); return }
        startIndex += 1
        if startIndex > 64, startIndex > entries.count / 2 {
            entries.removeFirst(startIndex)
            startIndex = 0
        }
    }
}
