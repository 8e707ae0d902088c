import EideticCore

/// An exchange that waits or runs.
///
/// Safe to send, as `QueueHost` is: it belongs to a queue, and is touched under the lock that guards that.
final class QueueEntry: @unchecked Sendable {
    enum State { case waiting, running, ended }

    /// A rank for each priority, and the highest for those whose caller has had its turn already.
    static let ranks = LoadPriority.allCases.count + 1

    let id: UInt64
    let context: WorkContext
    /// Given away when it starts or is cancelled: the entry may stand in its lane for a while longer.
    private var order: TransferOrder?
    /// The queue has it as long as an entry of it waits or runs.
    unowned let host: QueueHost
    /// Whether it follows a redirect.
    let isContinuation: Bool
    /// The number of its arrival.
    let ticket: UInt64
    let since: Duration
    var rank = 0
    var state = State.waiting
    var isCancelled = false

    init(_ order: TransferOrder, _ host: QueueHost, ticket: UInt64, since: Duration) {
        id = order.id
        context = order.context
        isContinuation = order.hop.redirects > 0
        self.order = order
        self.host = host
        self.ticket = ticket
        self.since = since
        rank = wantedRank
    }

    var wantedRank: Int { isContinuation ? Self.ranks - 1 : context.priority.rawValue }

    /// Gives the order away, once.
    func takeOrder() -> TransferOrder? {
        defer { order = nil }
        return order
    }
}

/// What waits for one origin, and how many run there.
final class QueueHost: @unchecked Sendable {
    let origin: Origin
    var running = 0
    private var lanes = Array(repeating: Lane(), count: QueueEntry.ranks)

    init(_ origin: Origin) { self.origin = origin }

    /// Whether nothing runs and nothing waits, as far as was looked.
    var isUnused: Bool { running == 0 && lanes.allSatisfy { $0.isEmpty } }

    func append(_ entry: QueueEntry) { lanes[entry.rank].append(entry) }

    func removeAll() { lanes = Array(repeating: Lane(), count: QueueEntry.ranks) }

    /// What waits at one end of a lane.
    func end(of rank: Int, fromFront: Bool) -> QueueEntry? {
        while let entry = lanes[rank].end(fromFront: fromFront) {
            if entry.state == .waiting { return entry }
            lanes[rank].dropEnd(fromFront: fromFront)
        }
        return nil
    }
}

/// Entries in their order of arrival; those that left already are skipped when they come to an end.
private struct Lane {
    private var entries: [QueueEntry] = []
    private var first = 0

    var isEmpty: Bool { first == entries.count }

    mutating func append(_ entry: QueueEntry) { entries.append(entry) }

    func end(fromFront: Bool) -> QueueEntry? {
        guard first < entries.count else { return nil }
        return fromFront ? entries[first] : entries.last
    }

    mutating func dropEnd(fromFront: Bool) {
        guard fromFront else { entries.removeLast(); return }
        first += 1
        if first > 64, first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        }
    }
}
