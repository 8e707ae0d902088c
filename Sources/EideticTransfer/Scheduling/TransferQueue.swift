/// The transfers that are ready to start, with fairness between applications and limits for hosts.
///
/// Applications take turns by deficit round-robin: each may start transfers of as many bytes as any other. Within an
/// application the transfer with the highest priority starts first, and of several the one that was added first.
package struct TransferQueue {
    fileprivate struct Entry {
        let number: UInt64
        let priority: Int8
        let cost: Int32
    }

    /// The transfers of one application to one host; the first entries may have been removed.
    fileprivate struct HostQueue {
        var entries: [Entry] = []
        var start = 0
        var first: Entry? { start < entries.count ? entries[start] : nil }
    }

    private struct ApplicationQueue {
        var hosts: [UInt32: HostQueue] = [:]
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

    /// Adds a transfer that may start.
    ///
    /// - Parameters:
    ///   - number: The transfer.
    ///   - application: The number of its application.
    ///   - host: The number of its host.
    ///   - priority: Its priority.
    ///   - remaining: The bytes that it has still to transfer; `nil` if unknown.
    package mutating func insert(_ number: UInt64, application: Int, host: UInt32, priority: Int8, remaining: Int?) {
        if applications[application] == nil {
            applications[application] = ApplicationQueue()
            turns.append(application)
        }
        let cost = min(max(remaining ?? Self.unknownCost, Self.costBounds.lowerBound), Self.costBounds.upperBound)
        let entry = Entry(number: number, priority: priority, cost: Int32(cost))
        applications[application]?.hosts[host, default: HostQueue()].insert(entry)
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
            best(of: application).map { (application: application, host: $0.host, entry: $0.entry) }
        }
        let entitled = candidates.filter { isBelowShare(Connection(application: $0.application, host: $0.host)) }
        guard let choice = choose(entitled.isEmpty ? candidates : entitled) else { return nil }
        applications[choice.application]?.hosts[choice.host]?.start += 1
        applications[choice.application]?.deficit -= Int(choice.entry.cost)
        compact(choice.application, host: choice.host)
        let connection = Connection(application: choice.application, host: choice.host)
        usage.add(connection)
        return (choice.entry.number, connection)
    }

    /// Records that a transfer has released its connection.
    package mutating func release(_ connection: Connection) { usage.remove(connection) }

    private mutating func choose(
        _ candidates: [(application: Int, host: UInt32, entry: Entry)]
    ) -> (application: Int, host: UInt32, entry: Entry)? {
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

    private func best(of application: Int) -> (host: UInt32, entry: Entry)? {
        var best: (host: UInt32, entry: Entry)?
        for (host, queue) in applications[application]?.hosts ?? [:] {
            guard let entry = queue.first, !isFull(host: host) else { continue }
            if best.map({ entry.isBefore($0.entry) }) ?? true { best = (host, entry) }
        }
        return best
    }

    private mutating func dropStale(_ isReady: (UInt64) -> Bool) {
        for application in turns {
            for host in applications[application]?.hosts.keys.map({ $0 }) ?? [] {
                while let entry = applications[application]?.hosts[host]?.first, !isReady(entry.number) {
                    applications[application]?.hosts[host]?.start += 1
                }
                compact(application, host: host)
            }
        }
    }

    private mutating func compact(_ application: Int, host: UInt32) {
        guard let queue = applications[application]?.hosts[host] else { return }
        if queue.first == nil {
            applications[application]?.hosts[host] = nil
        } else if queue.start > 1_024, queue.start > queue.entries.count / 2 {
            applications[application]?.hosts[host]?.entries.removeFirst(queue.start)
            applications[application]?.hosts[host]?.start = 0
        }
        guard applications[application]?.hosts.isEmpty ?? false else { return }
        applications[application] = nil
        turns.removeAll { $0 == application }
    }
}

// MARK: Shares
extension TransferQueue {
    /// A connection of an application to a host.
    package struct Connection: Sendable, Hashable {
        package let application: Int
        package let host: UInt32

        package init(application: Int, host: UInt32) { (self.application, self.host) = (application, host) }
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
            for host in applications[application]?.hosts.keys.map({ $0 }) ?? [] where isFull || isFull(host: host) {
                let shortage = Shortage(application: application, host: isFull(host: host) ? host : nil)
                guard !result.contains(shortage) else { continue }
                if isBelowShare(Connection(application: application, host: host)) { result.insert(shortage) }
            }
        }
        return result
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
        let waiting = turns.filter { applications[$0]?.hosts[host] != nil }
        let count = usage.applications(host: host).union(waiting).count
        return max(1, TransferLimits.connectionsPerHost / max(1, count))
    }

    private func isBelowShare(_ connection: Connection) -> Bool {
        usage.count(of: connection.application, host: nil) < share
            && usage.count(of: connection.application, host: connection.host) < share(ofHost: connection.host)
    }
}

extension TransferQueue.Entry {
    fileprivate func isBefore(_ other: Self) -> Bool {
        priority != other.priority ? priority > other.priority : number < other.number
    }
}

extension TransferQueue.HostQueue {
    /// Inserts an entry at its place, which is nearly always the end.
    fileprivate mutating func insert(_ entry: TransferQueue.Entry) {
        var (low, high) = (start, entries.count)
        if let last = entries.last, start < entries.count, last.isBefore(entry) { low = high }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].isBefore(entry) { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
    }
}
