import EideticCore

/// The queue that decides which exchange starts next; a value without threads.
///
/// - Exchanges of higher priority start first; among equals `executionOrder` decides.
/// - At most `maximumConcurrent` run, and at most `maximumPerHost` of one origin. Suspended exchanges do not count:
///   after they resume, more may run for a time.
/// - An exchange that has waited longer than `starvationLimit` starts before all others.
/// - An exchange that follows a redirect starts before others, because its download has started already.
struct DownloadQueue {
    /// A request that starts now.
    struct ReadyRequest {
        let request: ExchangeRequest
        let enqueueTime: Duration
    }

    /// The factor by which the running exchanges, suspended ones included, may exceed a limit.
    private static let suspensionFactor = 16

    var maximumConcurrent: Int
    var explicitMaximumPerHost: Int?
    var executionOrder: Downloader.ExecutionOrder
    var starvationLimit: Duration
    /// The rate limit; the engine enforces it.
    var maximumBytesPerSecond: Int?
    /// The highest priority that the application has suspended; `nil` for none.
    var suspendedPriority: LoadPriority?
    /// The number of user interactions in progress; low priority is suspended during an interaction.
    var interactionCount = 0
    /// A Boolean value indicating whether new downloads fail; redirects of running ones are followed.
    var isOffline = false

    /// All entries that wait or run.
    private var entries: [UInt64: QueueEntry] = [:]
    /// The queues of the origins of `entries`.
    private var originQueues: [Origin: OriginQueue] = [:]
    private var runningEntries: [UInt64: QueueEntry] = [:]
    private var lastSequenceNumber: UInt64 = 0
    private var knownPriorityChanges = 0
    /// The highest priority that may not start now; `nil` for none.
    private var blockedPriority: LoadPriority?

    init(_ configuration: Downloader.Configuration) {
        maximumConcurrent = max(1, configuration.maximumConcurrent)
        explicitMaximumPerHost = configuration.explicitMaximumPerHost.map { max(1, $0) }
        executionOrder = configuration.executionOrder
        starvationLimit = configuration.starvationLimit
        maximumBytesPerSecond = configuration.maximumBytesPerSecond
    }

    var maximumPerHost: Int {
        explicitMaximumPerHost ?? Downloader.Configuration.standardMaximumPerHost(of: maximumConcurrent)
    }

    var waitingCount: Int { entries.count - runningCount }
    var runningCount: Int { runningEntries.count }
    /// The identifiers of the running exchanges, and whether each is suspended.
    var running: [(id: UInt64, isSuspended: Bool)] { runningEntries.map { id, entry in (id, isSuspended(entry)) } }

    /// Appends a request.
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

    /// Removes and returns a request that waits; marks an entry that runs as cancelled and returns `nil`.
    mutating func cancel(_ id: UInt64) -> ExchangeRequest? {
        guard let entry = entries[id] else { return nil }
        entry.isCancelled = true
        guard entry.state == .waiting else { return nil }
        entry.state = .ended
        entries[id] = nil
        return entry.consumeRequest()
    }

    /// Removes and returns all waiting requests that do not follow a redirect.
    mutating func removeWaiting() -> [ExchangeRequest] {
        let waiting = entries.values.filter { $0.state == .waiting && !$0.followsRedirect }
        return waiting.sorted { $0.sequenceNumber < $1.sequenceNumber }.compactMap { cancel($0.id) }
    }

    func isCancelled(_ id: UInt64) -> Bool { entries[id]?.isCancelled ?? false }

    /// Frees the slot of a running exchange.
    mutating func finish(_ id: UInt64) {
        guard let entry = runningEntries.removeValue(forKey: id) else { return }
        entries[id] = nil
        entry.state = .ended
        entry.originQueue.runningCount -= 1
        if entry.originQueue.isIdle { originQueues[entry.originQueue.origin] = nil }
    }

    /// Removes and returns the next request, which counts as running from now on; `nil` if none may start.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - blockedPriority: The highest priority that may not start, because bodies fill the memory; `nil` for none.
    /// - Returns: The request.
    /// - Complexity: O(*n*) in the number of waiting origins; after a change of a priority, in the number of entries.
    mutating func dequeue(now: Duration, blockedPriority: LoadPriority?) -> ReadyRequest? {
        self.blockedPriority = blockedPriority
        guard waitingCount > 0, hasRoom(running: runningCount, in: nil, limit: maximumConcurrent) else { return nil }
        updateRanks()
        guard let entry = starvingEntry(now: now) ?? bestEntry(), let request = entry.consumeRequest() else {
            return nil
        }
        entry.state = .running
        entry.originQueue.runningCount += 1
        runningEntries[request.id] = entry
        return ReadyRequest(request: request, enqueueTime: entry.enqueueTime)
    }

    private mutating func originQueue(for origin: Origin) -> OriginQueue {
        if let originQueue = originQueues[origin] { return originQueue }
        let originQueue = OriginQueue(origin)
        originQueues[origin] = originQueue
        return originQueue
    }
}

// MARK: Suspension
extension DownloadQueue {
    /// A Boolean value indicating whether any priority is suspended.
    var isSuspending: Bool { suspendedPriority != nil || interactionCount > 0 }

    private func isSuspended(_ entry: QueueEntry) -> Bool {
        guard isSuspending else { return false }
        let priority = entry.context.priority
        return interactionCount > 0 && priority == .low || suspendedPriority.map { priority <= $0 } ?? false
    }

    /// Returns a Boolean value indicating whether one more exchange may run, of all or of one origin.
    ///
    /// Suspended exchanges leave room for others, up to `suspensionFactor` times the limit, because each has a
    /// connection.
    private func hasRoom(running: Int, in originQueue: OriginQueue?, limit: Int) -> Bool {
        running < limit
            || isSuspending && running / Self.suspensionFactor < limit && activeCount(in: originQueue) < limit
    }

    /// Returns the number of running exchanges that are not suspended, of all or of one origin.
    private func activeCount(in originQueue: OriginQueue?) -> Int {
        runningEntries.values.count { (originQueue == nil || $0.originQueue === originQueue) && !isSuspended($0) }
    }
}

// MARK: Order
extension DownloadQueue {
    private func isBlocked(_ entry: QueueEntry) -> Bool {
        blockedPriority.map { entry.context.priority <= $0 } ?? false
    }

    /// Moves entries whose priority has changed to the lane of their new rank.
    private mutating func updateRanks() {
        let changes = JobContext.priorityChangeCount
        guard changes != knownPriorityChanges else { return }
        knownPriorityChanges = changes
        let waiting = entries.values.filter { $0.state == .waiting }
        guard waiting.contains(where: { $0.rank != $0.currentRank }) else { return }
        for originQueue in originQueues.values { originQueue.removeAll() }
        for entry in waiting.sorted(by: { $0.sequenceNumber < $1.sequenceNumber }) {
            entry.rank = entry.currentRank
            entry.originQueue.append(entry)
        }
    }

    private mutating func bestEntry() -> QueueEntry? {
        let isFirstInFirstOut = executionOrder == .firstInFirstOut
        return candidate(fromFront: isFirstInFirstOut) { left, right in
            if left.rank != right.rank { return left.rank > right.rank }
            return isFirstInFirstOut
                ? left.sequenceNumber < right.sequenceNumber : left.sequenceNumber > right.sequenceNumber
        }
    }

    private mutating func starvingEntry(now: Duration) -> QueueEntry? {
        let oldest = candidate(fromFront: true) { $0.sequenceNumber < $1.sequenceNumber }
        return oldest.flatMap { now - $0.enqueueTime > starvationLimit ? $0 : nil }
    }

    /// Returns the best of the entries at one end of each lane that may start.
    private mutating func candidate(
        fromFront: Bool,
        isBetter: (QueueEntry, QueueEntry) -> Bool
    ) -> QueueEntry? {
        var best: QueueEntry?
        var idleOrigins: [Origin] = []
        for originQueue in originQueues.values
        where hasRoom(running: originQueue.runningCount, in: originQueue, limit: maximumPerHost) {
            for rank in 0..<QueueEntry.rankCount {
                guard let entry = originQueue.entry(ofRank: rank, fromFront: fromFront), !isSuspended(entry),
                    !isBlocked(entry)
                else { continue }
                if best.map({ isBetter(entry, $0) }) ?? true { best = entry }
            }
            if originQueue.isIdle { idleOrigins.append(originQueue.origin) }
        }
        for origin in idleOrigins { originQueues[origin] = nil }
        return best
    }
}
