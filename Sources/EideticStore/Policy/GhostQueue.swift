/// Remembers what was evicted lately: hashes only, in the order of their going, as many as fit into a number of bytes.
struct GhostQueue: Sendable {
    private struct Ghost: Sendable {
        let hash: UInt64
        let cost: Int
        let number: UInt64
    }

    private var queue: [Ghost] = []
    private var first = 0
    private var numbers: [UInt64: UInt64] = [:]
    private var cost = 0
    private var lastNumber: UInt64 = 0

    /// The bytes of the entries that are remembered.
    var capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Remembers an entry that goes.
    mutating func insert(_ hash: UInt64, cost: Int) {
        lastNumber += 1
        queue.append(Ghost(hash: hash, cost: cost, number: lastNumber))
        numbers[hash] = lastNumber
        self.cost += cost
        while self.cost > capacity, first < queue.count { dropOldest() }
        compact()
    }

    /// Whether `hash` is remembered; forgets it.
    mutating func remove(_ hash: UInt64) -> Bool { numbers.removeValue(forKey: hash) != nil }

    private mutating func dropOldest() {
        let oldest = queue[first]
        first += 1
        cost -= oldest.cost
        if numbers[oldest.hash] == oldest.number { numbers[oldest.hash] = nil }
    }

    /// Gives the room of what was dropped back when it is half of the queue: constant cost an entry.
    private mutating func compact() {
        guard first > 64, first * 2 > queue.count else { return }
        queue.removeFirst(first)
        first = 0
    }
}
