import EideticCore

/// Which exchange starts next: a value without threads, so that its rules can be tested one by one.
///
/// - The more urgent goes first; among equals the first or the last that came, as `order` says.
/// - No more than `maximum` run, and no more than `maximumPerHost` of one origin.
/// - What has waited longer than `patience` goes before all others, so that nothing starves under a flood.
/// - A hop that follows a redirect goes before others: its caller has had its turn already.
struct TransferQueue {
    struct Entry: Sendable {
        let id: UInt64
        let origin: Origin
        let context: WorkContext
        let isContinuation: Bool
        /// The number of its arrival.
        var ticket: UInt64 = 0
        var since: Duration = .zero
        var rank = 0
        var isCancelled = false

        var wantedRank: Int { isContinuation ? Self.ranks - 1 : context.priority.rawValue }
        static let ranks = LoadPriority.allCases.count + 1
    }

    /// What starts now, and since when it has waited.
    struct Start {
        let order: TransferOrder
        let since: Duration
    }

    var maximum: Int
    var maximumPerHost: Int
    var order: Downloader.ExecutionOrder
    var patience: Duration
    /// What the application has suspended: this priority and below; `nil` for nothing.
    var suspended: LoadPriority?
    /// How many hold low priority back because the user scrolls or drags.
    var interactions = 0

    private var waiting: [UInt64: Entry] = [:]
    private var orders: [UInt64: TransferOrder] = [:]
    private var hosts: [Origin: [Lane]] = [:]
    private var running: [UInt64: Entry] = [:]
    private var runningPerHost: [Origin: Int] = [:]
    private var lastTicket: UInt64 = 0
    private var seenPriorityChanges = 0

    init(_ configuration: Downloader.Configuration) {
        maximum = max(1, configuration.maximumConcurrent)
        maximumPerHost = max(1, configuration.maximumPerHost)
        order = configuration.executionOrder
        patience = configuration.patience
    }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }
    /// What runs, and whether it is to take bytes.
    var runningEntries: [(entry: Entry, isSuspended: Bool)] { running.values.map { ($0, isSuspended($0)) } }

    /// Adds an order behind those that wait.
    mutating func add(_ order: TransferOrder, _ context: WorkContext, isContinuation: Bool, now: Duration) {
        var entry = Entry(id: order.id, origin: order.origin, context: context, isContinuation: isContinuation)
        lastTicket += 1
        entry.ticket = lastTicket
        entry.since = now
        entry.rank = entry.wantedRank
        waiting[entry.id] = entry
        orders[entry.id] = order
        append(entry)
    }

    /// Takes out an order that waits; gives `nil` where none does, and marks the one that runs.
    mutating func cancel(_ id: UInt64) -> TransferOrder? {
        running[id]?.isCancelled = true
        waiting[id] = nil
        return orders.removeValue(forKey: id)
    }

    /// Whether an entry that runs was cancelled.
    func isCancelled(_ id: UInt64) -> Bool { running[id]?.isCancelled ?? false }

    /// Frees the place of an exchange that ran.
    mutating func finish(_ id: UInt64) {
        guard let origin = running.removeValue(forKey: id)?.origin, let count = runningPerHost[origin] else {
            return
        }
        runningPerHost[origin] = count > 1 ? count - 1 : nil
    }

    /// The order whose turn it is now; it counts as running from here on.
    ///
    /// `nil` where none may start.
    ///
    /// - Complexity: O(origins that wait); O(entries) after a priority has changed.
    mutating func next(now: Duration) -> Start? {
        guard running.count < maximum, !waiting.isEmpty else { return nil }
        followPriorities()
        guard let chosen = starving(now) ?? best(), let order = orders.removeValue(forKey: chosen.id) else {
            return nil
        }
        waiting[chosen.id] = nil
        running[chosen.id] = chosen
        runningPerHost[chosen.origin, default: 0] += 1
        return Start(order: order, since: chosen.since)
    }

    /// Whether anything may have to stay where it is.
    var isSuspending: Bool { suspended != nil || interactions > 0 }

    private func isSuspended(_ entry: Entry) -> Bool {
        let priority = entry.context.priority
        return interactions > 0 && priority == .low || suspended.map { priority <= $0 } ?? false
    }

    private mutating func append(_ entry: Entry) {
        hosts[entry.origin, default: Array(repeating: Lane(), count: Entry.ranks)][entry.rank].append(entry)
    }

    /// Sorts entries anew whose priority has changed since they came.
    private mutating func followPriorities() {
        let changes = WorkContext.priorityChanges
        guard changes != seenPriorityChanges else { return }
        seenPriorityChanges = changes
        guard waiting.values.contains(where: { $0.rank != $0.wantedRank }) else { return }
        hosts = [:]
        for var entry in waiting.values.sorted(by: { $0.ticket < $1.ticket }) {
            entry.rank = entry.wantedRank
            waiting[entry.id] = entry
            append(entry)
        }
    }

    private mutating func best() -> Entry? {
        candidates(fromFront: order == .firstInFirstOut) { [order] left, right in
            if left.rank != right.rank { return left.rank > right.rank }
            return order == .firstInFirstOut ? left.ticket < right.ticket : left.ticket > right.ticket
        }
    }

    private mutating func starving(_ now: Duration) -> Entry? {
        let oldest = candidates(fromFront: true) { $0.ticket < $1.ticket }
        return oldest.flatMap { now - $0.since > patience ? $0 : nil }
    }

    /// The best of what stands at one end of every lane that may start.
    private mutating func candidates(fromFront: Bool, isBetter: (Entry, Entry) -> Bool) -> Entry? {
        var best: Entry?
        for origin in Array(hosts.keys) where runningPerHost[origin, default: 0] < maximumPerHost {
            var isEmpty = true
            for rank in 0..<Entry.ranks {
                guard let entry = end(of: rank, at: origin, fromFront: fromFront) else { continue }
                isEmpty = false
                if isSuspended(entry) { continue }
                if best.map({ isBetter(entry, $0) }) ?? true { best = entry }
            }
            if isEmpty { hosts[origin] = nil }
        }
        return best
    }

    private mutating func end(of rank: Int, at origin: Origin, fromFront: Bool) -> Entry? {
        while let id = hosts[origin]?[rank].end(fromFront: fromFront) {
            if let entry = waiting[id] { return entry }
            hosts[origin]?[rank].dropEnd(fromFront: fromFront)
        }
        return nil
    }
}

/// Identifiers in their order of arrival; those that left already are skipped when they come to an end.
private struct Lane {
    private var ids: [UInt64] = []
    private var first = 0

    mutating func append(_ entry: TransferQueue.Entry) { ids.append(entry.id) }

    func end(fromFront: Bool) -> UInt64? {
        guard first < ids.count else { return nil }
        return fromFront ? ids[first] : ids.last
    }

    mutating func dropEnd(fromFront: Bool) {
        guard fromFront else { ids.removeLast(); return }
        first += 1
        if first > 64, first > ids.count / 2 {
            ids.removeFirst(first)
            first = 0
        }
    }
}
