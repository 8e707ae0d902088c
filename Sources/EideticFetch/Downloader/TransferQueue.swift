import EideticCore

/// Which exchange starts next: without threads, so that its rules can be read one by one.
///
/// - The more urgent goes first; among equals the first or the last that came, as `order` says.
/// - No more than `maximum` run, and no more than `maximumPerHost` of one origin. Those that are suspended do not count:
///   when they go on, more may run for a time.
/// - What has waited longer than `patience` goes before all others, so that nothing starves under a flood.
/// - A hop that follows a redirect goes before others: its caller has had its turn already.
struct TransferQueue {
    /// What starts now, and since when it has waited.
    struct Start {
        let order: TransferOrder
        let since: Duration
    }

    /// How many times the limit may run while some of them are suspended.
    private static let crowd = 16

    var maximum: Int
    var maximumPerHost: Int
    var order: Downloader.ExecutionOrder
    var patience: Duration
    /// What the application has suspended: this priority and below; `nil` for nothing.
    var suspended: LoadPriority?
    /// How many hold low priority back because the user scrolls or drags.
    var interactions = 0
    /// Whether nothing new is asked of the network; a redirect still leads on.
    var isOffline = false

    /// All that wait or run.
    private var entries: [UInt64: QueueEntry] = [:]
    /// The origins of those.
    private var hosts: [Origin: QueueHost] = [:]
    /// Those that run.
    private var runners: [UInt64: QueueEntry] = [:]
    private var lastTicket: UInt64 = 0
    private var seenPriorityChanges = 0

    init(_ configuration: Downloader.Configuration) {
        maximum = max(1, configuration.maximumConcurrent)
        maximumPerHost = max(1, configuration.maximumPerHost)
        order = configuration.executionOrder
        patience = configuration.patience
    }

    var waitingCount: Int { entries.count - runningCount }
    var runningCount: Int { runners.count }
    /// What runs, and whether it is to take bytes.
    var running: [(id: UInt64, isSuspended: Bool)] { runners.map { id, entry in (id, isSuspended(entry)) } }

    /// Adds an order behind those that wait.
    mutating func add(_ order: TransferOrder, now: Duration) {
        lastTicket += 1
        let entry = QueueEntry(order, host(of: order.origin), ticket: lastTicket, since: now)
        entries[order.id] = entry
        entry.host.append(entry)
    }

    /// Takes out an order that waits; gives `nil` where none does, and marks the one that runs.
    mutating func cancel(_ id: UInt64) -> TransferOrder? {
        guard let entry = entries[id] else { return nil }
        entry.isCancelled = true
        guard entry.state == .waiting else { return nil }
        entry.state = .ended
        entries[id] = nil
        return entry.takeOrder()
    }

    /// Takes out all that wait to be the first of their download.
    mutating func removeWaiting() -> [TransferOrder] {
        let waiting = entries.values.filter { $0.state == .waiting && !$0.isContinuation }
        return waiting.sorted { $0.ticket < $1.ticket }.compactMap { cancel($0.id) }
    }

    /// Whether an entry that runs was cancelled.
    func isCancelled(_ id: UInt64) -> Bool { entries[id]?.isCancelled ?? false }

    /// Frees the place of an exchange that ran.
    mutating func finish(_ id: UInt64) {
        guard let entry = runners.removeValue(forKey: id) else { return }
        entries[id] = nil
        entry.state = .ended
        entry.host.running -= 1
        if entry.host.isUnused { hosts[entry.host.origin] = nil }
    }

    /// The order whose turn it is now; it counts as running from here on.
    ///
    /// `nil` where none may start.
    ///
    /// - Complexity: O(origins that wait); O(entries) after a priority has changed.
    mutating func next(now: Duration) -> Start? {
        guard waitingCount > 0, hasRoom(running: runningCount, nil, maximum) else { return nil }
        followPriorities()
        guard let chosen = starving(now) ?? best(), let order = chosen.takeOrder() else { return nil }
        chosen.state = .running
        chosen.host.running += 1
        runners[order.id] = chosen
        return Start(order: order, since: chosen.since)
    }

    /// Whether one more may run, of all or at `host`: those that are suspended leave room for others, `crowd` times the limit
    /// in all, since each has a connection.
    private func hasRoom(running: Int, _ host: QueueHost?, _ limit: Int) -> Bool {
        running < limit || isSuspending && running / Self.crowd < limit && busyCount(host) < limit
    }

    /// How many take bytes, of all that run or of those at `host`.
    private func busyCount(_ host: QueueHost? = nil) -> Int {
        runners.values.count { (host == nil || $0.host === host) && !isSuspended($0) }
    }

    /// Whether anything may have to stay where it is.
    var isSuspending: Bool { suspended != nil || interactions > 0 }

    private func isSuspended(_ entry: QueueEntry) -> Bool {
        guard isSuspending else { return false }
        let priority = entry.context.priority
        return interactions > 0 && priority == .low || suspended.map { priority <= $0 } ?? false
    }

    private mutating func host(of origin: Origin) -> QueueHost {
        if let host = hosts[origin] { return host }
        let host = QueueHost(origin)
        hosts[origin] = host
        return host
    }

    /// Sorts entries anew whose priority has changed since they came.
    private mutating func followPriorities() {
        let changes = WorkContext.priorityChanges
        guard changes != seenPriorityChanges else { return }
        seenPriorityChanges = changes
        let waiting = entries.values.filter { $0.state == .waiting }
        guard waiting.contains(where: { $0.rank != $0.wantedRank }) else { return }
        for host in hosts.values { host.removeAll() }
        for entry in waiting.sorted(by: { $0.ticket < $1.ticket }) {
            entry.rank = entry.wantedRank
            entry.host.append(entry)
        }
    }

    private mutating func best() -> QueueEntry? {
        candidate(fromFront: order == .firstInFirstOut) { [order] left, right in
            if left.rank != right.rank { return left.rank > right.rank }
            return order == .firstInFirstOut ? left.ticket < right.ticket : left.ticket > right.ticket
        }
    }

    private mutating func starving(_ now: Duration) -> QueueEntry? {
        let oldest = candidate(fromFront: true) { $0.ticket < $1.ticket }
        return oldest.flatMap { now - $0.since > patience ? $0 : nil }
    }

    /// The best of what stands at one end of every lane that may start.
    private mutating func candidate(
        fromFront: Bool,
        isBetter: (QueueEntry, QueueEntry) -> Bool
    ) -> QueueEntry? {
        var best: QueueEntry?
        var unused: [Origin] = []
        for host in hosts.values where hasRoom(running: host.running, host, maximumPerHost) {
            for rank in 0..<QueueEntry.ranks {
                guard let entry = host.end(of: rank, fromFront: fromFront), !isSuspended(entry) else { continue }
                if best.map({ isBetter(entry, $0) }) ?? true { best = entry }
            }
            if host.isUnused { unused.append(host.origin) }
        }
        for origin in unused { hosts[origin] = nil }
        return best
    }
}
