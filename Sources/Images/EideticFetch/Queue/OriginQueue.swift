/// The waiting exchanges of one origin in a lane for each rank, and the number of those that run.
final class OriginQueue: @unchecked Sendable {
    // Safe to send: a queue belongs to one table of queues, and is only used under the lock of that table.
    let origin: Origin
    var runningCount = 0
    private var lanes = Array(repeating: Lane(), count: QueueEntry.rankCount)

    init(_ origin: Origin) { self.origin = origin }

    /// A Boolean value indicating whether nothing runs and all lanes are empty.
    ///
    /// Lanes may contain entries that no longer wait; those count until they reach an end of their lane.
    var isIdle: Bool { runningCount == 0 && lanes.allSatisfy { $0.isEmpty } }

    func append(_ entry: QueueEntry) { lanes[entry.rank].append(entry) }

    func removeAll() { lanes = Array(repeating: Lane(), count: QueueEntry.rankCount) }

    /// Returns the first or the last waiting entry of a lane; removes entries that no longer wait from that end.
    func entry(ofRank rank: Int, fromFront: Bool) -> QueueEntry? {
        while let entry = lanes[rank].entry(fromFront: fromFront) {
            if entry.state == .waiting { return entry }
            lanes[rank].removeEntry(fromFront: fromFront)
        }
        return nil
    }
}

/// Entries of one rank in their order of arrival.
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
