import EideticTransfer

/// The transfers that are ready to start, with fairness between applications and limits for hosts.
///
/// Applications take turns by deficit round-robin: each may start transfers of as many bytes as any other. Within an
/// application the transfer with the highest priority starts first, and of several the one that has given way least
/// often, then the one that was added first.
package struct TransferQueue {
    fileprivate struct Entry {
        let number: UInt64
        let priority: Int8
        let turns: UInt8
        let cost: Int32
    }

    /// The transfers of one session to one host.
    private struct Lane: Hashable {
        let host: UInt32
        let session: UInt32
    }

    /// The transfers of a lane; the first entries may have been removed.
    fileprivate struct LaneQueue {
        /// The largest number of connections.
        var limit = Int.max
        var entries: [Entry] = []
        var start = 0
        var first: Entry? { start < entries.count ? entries[start] : nil }
    }

    private struct ApplicationQueue {
        var lanes: [Lane: LaneQueue] = [:]
        var deficit = 0
    }

    private var applications: [Int: ApplicationQueue] = [:]
    /// The applications with entries, in the order of their turns.
    private var turns: [Int] = []
    private var usage = ConnectionUsage()

    package init() {}

    package var runningCount: Int { usage.count }

    /// The bytes that each application may start in a turn.
    private static let quantum = 1 << 20
    /// The bytes that a transfer of unknown length counts as, and the bounds for all.
    private static let unknownCost = 256 << 10
    private static let costBounds = 16 << 10...64 << 20

    /// A Boolean value indicating whether all connections are in use.
    package var isFull: Bool { runningCount >= TransferLimits.connections }

    package func isFull(host: UInt32) -> Bool { usage.count(host: host) >= TransferLimits.connectionsPerHost }

    package func count(ofSession session: UInt32, host: UInt32) -> Int { usage.count(ofSession: session, host: host) }

    /// Adds a transfer that may start.
    ///
    /// - Parameters:
    ///   - number: The transfer.
    ///   - connection: The connection that it needs.
    ///   - limit: The largest number of connections of its session to its host.
    ///   - priority: Its priority.
    ///   - turns: The number of times that it gave way to others of its application.
    ///   - remaining: The bytes that it has still to transfer; `nil` if unknown.
    package mutating func insert(
        _ number: UInt64,
        on connection: Connection,
        limit: Int = .max,
        priority: Int8 = 0,
        turns: UInt8 = 0,
        remaining: Int? = nil
    ) {
        let application = connection.application
        if applications[application] == nil {
            applications[application] = ApplicationQueue()
            self.turns.append(application)
        }
        let cost = min(max(remaining ?? Self.unknownCost, Self.costBounds.lowerBound), Self.costBounds.upperBound)
        let entry = Entry(number: number, priority: priority, turns: turns, cost: Int32(cost))
        let lane = Lane(host: connection.host, session: connection.session)
        applications[application]?.lanes[lane, default: LaneQueue()].limit = limit
        applications[application]?.lanes[lane]?.insert(entry)
    }

    /// Removes the next transfer and counts it as running.
    ///
    /// Applications with fewer connections than their share come first.
    ///
    /// - Parameter isReady: A function that returns `false` for a transfer that no longer waits; it is dropped.
    /// - Returns: The transfer and its connection; `nil` if none may start now.
    package mutating func popNext(isReady: (UInt64) -> Bool) -> (number: UInt64, connection: Connection)? {
        guard !isFull else { return nil }
        dropStale(isReady)
        let candidates = turns.compactMap { application in
            best(of: application).map { (application: application, lane: $0.lane, entry: $0.entry) }
        }
        let entitled = candidates.filter { isBelowShare($0.application, host: $0.lane.host) }
        guard let choice = choose(entitled.isEmpty ? candidates : entitled) else { return nil }
        applications[choice.application]?.lanes[choice.lane]?.start += 1
        applications[choice.application]?.deficit -= Int(choice.entry.cost)
        compact(choice.application, lane: choice.lane)
        let connection = Connection(
            application: choice.application,
            host: choice.lane.host,
            session: choice.lane.session
        )
        usage.add(connection)
        return (choice.entry.number, connection)
    }

    /// Records that a transfer has released its connection.
    package mutating func release(_ connection: Connection) { usage.remove(connection) }

    private mutating func choose(
        _ candidates: [(application: Int, lane: Lane, entry: Entry)]
    ) -> (application: Int, lane: Lane, entry: Entry)? {
        guard !candidates.isEmpty else { return nil }
        let missing = candidates.map { Int($0.entry.cost) - (applications[$0.application]?.deficit ?? 0) }
        let rounds = max(0, ((missing.min() ?? 0) + Self.quantum - 1) / Self.quantum)
        for candidate in candidates { applications[candidate.application]?.deficit += rounds * Self.quantum }
        let choice = candidates.first { Int($0.entry.cost) <= applications[$0.application]?.deficit ?? 0 }
        if let choice, let turn = turns.firstIndex(of: choice.application),
            applications[choice.application]?.deficit ?? 0 < Int(choice.entry.cost) + Self.quantum
        {
            turns.append(turns.remove(at: turn))
        }
        return choice
    }

    private func best(of application: Int) -> (lane: Lane, entry: Entry)? {
        var best: (lane: Lane, entry: Entry)?
        for (lane, queue) in applications[application]?.lanes ?? [:] {
            guard let entry = queue.first, !isFull(host: lane.host), !isAtLimit(lane, of: queue) else { continue }
            if best.map({ entry.isBefore($0.entry) }) ?? true { best = (lane, entry) }
        }
        return best
    }

    /// Returns a Boolean value indicating whether the session allows no more connections to the host.
    private func isAtLimit(_ lane: Lane, of queue: LaneQueue) -> Bool {
        queue.limit < TransferLimits.connectionsPerHost
            && usage.count(ofSession: lane.session, host: lane.host) >= queue.limit
    }

    private mutating func dropStale(_ isReady: (UInt64) -> Bool) {
        for application in turns {
            for lane in applications[application]?.lanes.keys.map({ $0 }) ?? [] {
                while let entry = applications[application]?.lanes[lane]?.first, !isReady(entry.number) {
                    applications[application]?.lanes[lane]?.start += 1
                }
                compact(application, lane: lane)
            }
        }
    }

    private mutating func compact(_ application: Int, lane: Lane) {
        guard let queue = applications[application]?.lanes[lane] else { return }
        if queue.first == nil {
            applications[application]?.lanes[lane] = nil
        } else if queue.start > 1_024, queue.start > queue.entries.count / 2 {
            applications[application]?.lanes[lane]?.entries.removeFirst(queue.start)
            applications[application]?.lanes[lane]?.start = 0
        }
        guard applications[application]?.lanes.isEmpty ?? false else { return }
        applications[application] = nil
        turns.removeAll { $0 == application }
    }
}

// MARK: Shares
extension TransferQueue {
    /// A connection of a session of an application to a host.
    package struct Connection: Sendable, Hashable {
        package let application: Int
        package let host: UInt32
        package var session: UInt32 = 0
    }

    /// A lack of connections: an application waits and has fewer than its share.
    package struct Shortage: Sendable, Hashable {
        package let application: Int
        /// The host whose connections are all in use; `nil` if all connections are.
        package let host: UInt32?
    }

    /// Returns the shortages: at most one of each application and full host.
    package mutating func shortages(isReady: (UInt64) -> Bool) -> Set<Shortage> {
        dropStale(isReady)
        var result: Set<Shortage> = []
        for application in turns where usage.count(of: application, host: nil) < share {
            for (lane, queue) in applications[application]?.lanes ?? [:] where isFull || isFull(host: lane.host) {
                let shortage = Shortage(application: application, host: isFull(host: lane.host) ? lane.host : nil)
                guard !result.contains(shortage), !isAtLimit(lane, of: queue) else { continue }
                if isBelowShare(application, host: lane.host) { result.insert(shortage) }
            }
        }
        return result
    }

    /// A transfer that waits for a connection which another one of its application has.
    package struct Blockage: Sendable, Hashable {
        package let application: Int
        /// The host whose connections are all in use; `nil` if all connections are.
        package let host: UInt32?
        package let priority: Int8
    }

    /// Returns the blockages: at most one of each application, and one of each of its full hosts.
    package mutating func blockages(isReady: (UInt64) -> Bool) -> Set<Blockage> {
        dropStale(isReady)
        var priorities: [Shortage: Int8] = [:]
        for application in turns {
            for (lane, queue) in applications[application]?.lanes ?? [:] where isFull || isFull(host: lane.host) {
                guard let first = queue.first, !isAtLimit(lane, of: queue) else { continue }
                let place = Shortage(application: application, host: isFull(host: lane.host) ? lane.host : nil)
                priorities[place] = max(priorities[place] ?? first.priority, first.priority)
            }
        }
        return Set(priorities.map { Blockage(application: $0.application, host: $0.host, priority: $1) })
    }

    /// Returns the number of connections that an application has beyond those of the application that lacks one.
    ///
    /// More than one: a connection that changes hands makes the shares more equal.
    package func lead(of application: Int, in shortage: Shortage) -> Int {
        usage.count(of: application, host: shortage.host) - usage.count(of: shortage.application, host: shortage.host)
    }

    /// The number of connections to which each application is entitled.
    private var share: Int {
        let count = usage.applications(host: nil).union(turns).count
        return max(1, TransferLimits.connections / max(1, count))
    }

    private func share(ofHost host: UInt32) -> Int {
        let waiting = turns.filter { applications[$0]?.lanes.keys.contains { $0.host == host } ?? false }
        let count = usage.applications(host: host).union(waiting).count
        return max(1, TransferLimits.connectionsPerHost / max(1, count))
    }

    private func isBelowShare(_ application: Int, host: UInt32) -> Bool {
        usage.count(of: application, host: nil) < share
            && usage.count(of: application, host: host) < share(ofHost: host)
    }
}

extension TransferQueue.Entry {
    fileprivate func isBefore(_ other: Self) -> Bool {
        (other.priority, turns, number) < (priority, other.turns, other.number)
    }
}

extension TransferQueue.LaneQueue {
    /// Inserts an entry at its place, which is nearly always the end.
    fileprivate mutating func insert(_ entry: TransferQueue.Entry) {
        var low = start
        var high = entries.count
        if let last = entries.last, start < entries.count, last.isBefore(entry) { low = high }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].isBefore(entry) { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
    }
}
