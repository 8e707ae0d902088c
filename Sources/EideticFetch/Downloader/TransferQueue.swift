import EideticCore

/// Which exchange starts next: without threads, so that its rules can be read one by one.
///
/// - The more urgent goes first; among equals the first or the last that came, as `order` says.
/// - No more than `maximum` run, and no more than `maximumPerHost` of one origin. Those that are suspended do not count:
///   when they go on, more may run for a time.
/// - What has waited longer than `patience` goes before all others, so that nothing starves under a flood.
/// - A hop that follows a redirect goes before others: its caller has had its turn already.
struct DownloadQueue {
    /// What starts now, and since when it has waited.
    struct ReadyRequest {
        let request: ExchangeRequest
        let enqueueTime: Duration
    }

    /// How many times the limit may run while some of them are suspended.
    private static let suspensionFactor = 16

    var maximumConcurrent: Int
    var maximumPerHost: Int
    var executionOrder: Downloader.ExecutionOrder
    var starvationLimit: Duration
    /// What the application has suspended: this priority and below; `nil` for nothing.
    var suspendedPriority: LoadPriority?
    /// How many hold low priority back because the user scrolls or drags.
    var interactionCount = 0
    /// Whether nothing new is asked of the network; a redirect still leads on.
    var isOffline = false

    /// All that wait or run.
    private var entries: [UInt64: QueueEntry] = [:]
    /// The origins of those.
    private var originQueues: [Origin: OriginQueue] = [:]
    /// Those that run.
    private var runningEntries: [UInt64: QueueEntry] = [:]
    private var lastSequenceNumber: UInt64 = 0
    private var knownPriorityChanges = 0

    init(_ configuration: Downloader.Configuration) {
        maximumConcurrent = max(1, configuration.maximumConcurrent)
        maximumPerHost = max(1, configuration.maximumPerHost)
        executionOrder = configuration.executionOrder
        starvationLimit = configuration.starvationLimit
    }

    var waitingCount: Int { entries.count - runningCount }
    var runningCount: Int { runningEntries.count }
    /// What runs, and whether it is to take bytes.
    var running: [(id: UInt64, isSuspended: Bool)] { runningEntries.map { id, entry in (id, isSuspended(entry)) } }

    /// Adds an order behind those that wait.
    mutating func add(_ request: ExchangeRequest, now: Duration) {
        lastSequenceNumber += 1
        let entry = QueueEntry(
            request,
            originQueue: originQueue(for: request.origin),
            sequenceNumber: lastSequenceNumber,
            enqueueTime: now
        )
        entries[request.id] = entry
        entry.originQueue.append(entry)
    }

    /// Takes out an order that waits; gives `nil` where none does, and marks the one that runs.
    mutating func cancel(_ id: UInt64) -> ExchangeRequest? {
        guard let entry = entries[id] else { return nil }
        entry.isCancelled = true
        guard entry.state == .waiting else { return nil }
        entry.state = .ended
        entries[id] = nil
        return entry.consumeRequest()
    }

    /// Takes out all that wait to be the first of their download.
    mutating func removeWaiting() -> [ExchangeRequest] {
        let waitingEntries = entries.values.filter { $0.state == .waiting && !$0.followsRedirect }
        return waitingEntries.sorted { $0.sequenceNumber < $1.sequenceNumber }.compactMap { cancel($0.id) }
    }

    /// Whether an entry that runs was cancelled.
    func isCancelled(_ id: UInt64) -> Bool { entries[id]?.isCancelled ?? false }

    /// Frees the place of an exchange that ran.
    mutating func finish(_ id: UInt64) {
        guard let entry = runningEntries.removeValue(forKey: id) else { return }
        entries[id] = nil
        entry.state = .ended
        entry.originQueue.runningCount -= 1
        if entry.originQueue.isIdle { originQueues[entry.originQueue.origin] = nil }
    }

    /// The order whose turn it is now; it counts as running from here on.
    ///
    /// `nil` where none may start.
    ///
    /// - Complexity: O(origins that wait); O(entries) after a priority has changed.
    mutating func dequeue(now: Duration) -> ReadyRequest? {
        guard waitingCount > 0, hasRoom(running: runningCount, in: nil, limit: maximumConcurrent) else { return nil }
        updateRanks()
        guard let chosen = starvingEntry(now: now) ?? bestEntry(), let request = chosen.consumeRequest() else {
            return nil
        }
        chosen.state = .running
        chosen.originQueue.runningCount += 1
        runningEntries[request.id] = chosen
        return ReadyRequest(request: request, enqueueTime: chosen.enqueueTime)
    }

    /// Whether one more may run, of all or at `host`: those that are suspended leave room for others, `crowd` times the limit
    /// in all, since each has a connection.
    private func hasRoom(running: Int, in originQueue: OriginQueue?, limit: Int) -> Bool {
        running < limit
            || isSuspending && running / Self.suspensionFactor < limit && activeCount(in: originQueue) < limit
    }

    /// How many take bytes, of all that run or of those at `host`.
    private func activeCount(in originQueue: OriginQueue? = nil) -> Int {
        runningEntries.values.count { (originQueue == nil || $0.originQueue === originQueue) && !isSuspended($0) }
    }

    /// Whether anything may have to stay where it is.
    var isSuspending: Bool { suspendedPriority != nil || interactionCount > 0 }

    private func isSuspended(_ entry: QueueEntry) -> Bool {
        guard isSuspending else { return false }
        let priority = entry.context.priority
        return interactionCount > 0 && priority == .low || suspendedPriority.map { priority <= $0 } ?? false
    }

    private mutating func originQueue(for origin: Origin) -> OriginQueue {
        if let originQueue = originQueues[origin] { return originQueue }
        let originQueue = OriginQueue(origin)
        originQueues[origin] = originQueue
        return originQueue
    }

    /// Sorts entries anew whose priority has changed since they came.
    private mutating func updateRanks() {
        let changes = JobContext.priorityChangeCount
        guard changes != knownPriorityChanges else { return }
        knownPriorityChanges = changes
        let waitingEntries = entries.values.filter { $0.state == .waiting }
        guard waitingEntries.contains(where: { $0.rank != $0.currentRank }) else { return }
        for originQueue in originQueues.values { originQueue.removeAll() }
        for entry in waitingEntries.sorted(by: { $0.sequenceNumber < $1.sequenceNumber }) {
            entry.rank = entry.currentRank
            entry.originQueue.append(entry)
        }
    }

    private mutating func bestEntry() -> QueueEntry? {
        candidate(fromFront: executionOrder == .firstInFirstOut) { [executionOrder] left, right in
            if left.rank != right.rank { return left.rank > right.rank }
            return executionOrder == .firstInFirstOut
                ? left.sequenceNumber < right.sequenceNumber : left.sequenceNumber > right.sequenceNumber
        }
    }

    private mutating func starvingEntry(now: Duration) -> QueueEntry? {
        let oldest = candidate(fromFront: true) { $0.sequenceNumber < $1.sequenceNumber }
        return oldest.flatMap { now - $0.enqueueTime > starvationLimit ? $0 : nil }
    }

    /// The best of what stands at one end of every lane that may start.
    private mutating func candidate(
        fromFront: Bool,
        isBetter: (QueueEntry, QueueEntry) -> Bool
    ) -> QueueEntry? {
        var best: QueueEntry?
        var idleOrigins: [Origin] = []
        for originQueue in originQueues.values
        where hasRoom(running: originQueue.runningCount, in: originQueue, limit: maximumPerHost) {
            for rank in 0..<QueueEntry.rankCount {
                guard let entry = originQueue.entry(ofRank: rank, fromFront: fromFront), !isSuspended(entry) else {
                    continue
                }
                if best.map({ isBetter(entry, $0) }) ?? true { best = entry }
            }
            if originQueue.isIdle { idleOrigins.append(originQueue.origin) }
        }
        for origin in idleOrigins { originQueues[origin] = nil }
        return best
    }
}
