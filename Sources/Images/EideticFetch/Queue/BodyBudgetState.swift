import EideticCore

/// The shares of a budget, and their sums for each priority.
struct BodyBudgetState {
    private struct Entry {
        let context: JobContext
        var byteCount = 0
        /// The priority under which the bytes are counted.
        var priority: LoadPriority
        var isComplete = false
    }

    /// A Boolean value indicating whether somebody waits for a release.
    var hasRefused = false
    var waiters: [ObjectIdentifier: Waiter<Void>] = [:]

    private var entries: [ObjectIdentifier: Entry] = [:]
    private var completeBytes = PrioritySums()
    private var allBytes = PrioritySums()
    /// The shares that may grow beyond the limit, at most one of each priority.
    private var exempt: Set<ObjectIdentifier> = []
    private var knownPriorityChanges = 0

    var usedBytes: Int { allBytes.sum(from: .low) }

    /// Returns the bytes of complete bodies of this priority and above.
    mutating func completeBytes(from priority: LoadPriority) -> Int {
        updatePriorities()
        return completeBytes.sum(from: priority)
    }

    mutating func add(_ count: Int, to id: ObjectIdentifier, context: JobContext) {
        var entry = entries[id] ?? Entry(context: context, priority: context.priority)
        entry.byteCount += count
        allBytes[entry.priority] += count
        if entry.isComplete { completeBytes[entry.priority] += count }
        entries[id] = entry
    }

    mutating func markComplete(_ id: ObjectIdentifier) {
        guard var entry = entries[id], !entry.isComplete else { return }
        entry.isComplete = true
        entries[id] = entry
        completeBytes[entry.priority] += entry.byteCount
    }

    /// Removes a share; returns `false` if it has no bytes.
    mutating func remove(_ id: ObjectIdentifier) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        exempt.remove(id)
        allBytes[entry.priority] -= entry.byteCount
        if entry.isComplete { completeBytes[entry.priority] -= entry.byteCount }
        return true
    }

    /// Returns a Boolean value indicating whether a share may receive more bytes; it may become the exempt one.
    mutating func mayGrow(_ id: ObjectIdentifier, limit: Int) -> Bool {
        updatePriorities()
        guard let entry = entries[id], entry.byteCount > BodyBudget.allowance, !exempt.contains(id) else { return true }
        if allBytes.sum(from: entry.priority) < limit { return true }
        let hasExempt = exempt.contains { entries[$0].map { $0.priority >= entry.priority } ?? false }
        if hasExempt { hasRefused = true } else { exempt.insert(id) }
        return !hasExempt
    }

    /// Returns a Boolean value indicating whether others wait because this share may grow beyond the limit.
    func holdsOthers(_ id: ObjectIdentifier) -> Bool { exempt.contains(id) && (hasRefused || !waiters.isEmpty) }

    /// Counts all shares again if any priority has changed.
    private mutating func updatePriorities() {
        let changes = JobContext.priorityChangeCount
        guard changes != knownPriorityChanges else { return }
        knownPriorityChanges = changes
        for (id, entry) in entries where entry.priority != entry.context.priority {
            let priority = entry.context.priority
            entries[id]?.priority = priority
            allBytes[entry.priority] -= entry.byteCount
            allBytes[priority] += entry.byteCount
            guard entry.isComplete else { continue }
            completeBytes[entry.priority] -= entry.byteCount
            completeBytes[priority] += entry.byteCount
        }
    }
}

/// A number for each priority.
private struct PrioritySums {
    private var sums = Array(repeating: 0, count: LoadPriority.allCases.count)

    subscript(priority: LoadPriority) -> Int {
        get { sums[priority.rank] }
        set { sums[priority.rank] = newValue }
    }

    /// Returns the sum of the numbers of this priority and above.
    func sum(from priority: LoadPriority) -> Int { sums[priority.rank...].reduce(0, +) }
}
