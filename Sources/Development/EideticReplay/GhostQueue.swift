/// A history of recently evicted entries: their hashes in the order of eviction, up to a total of bytes.
struct GhostQueue: Sendable {
    private struct Ghost: Sendable {
        let hash: UInt64
        let cost: Int
        let number: UInt64
    }

    private let capacity: Int
    private var queue: [Ghost] = []
    private var first = 0
    private var numbers: [UInt64: UInt64] = [:]
    private var cost = 0
    private var lastNumber: UInt64 = 0

    /// Creates an empty history of entries of up to `capacity` bytes in total.
    init(capacity: Int) { self.capacity = capacity }

    /// Records an evicted entry.
    mutating func insert(_ hash: UInt64, cost: Int) {
        lastNumber += 1
        queue.append(Ghost(hash: hash, cost: cost, number: lastNumber))
        numbers[hash] = lastNumber
        self.cost += cost
        while self.cost > capacity, first < queue.count { dropOldest() }
        compact()
    }

    /// Removes `hash` from the history.
    ///
    /// - Returns: `true` if it was there; otherwise, `false`.
    mutating func remove(_ hash: UInt64) -> Bool { numbers.removeValue(forKey: hash) != nil }

    private mutating func dropOldest() {
        let oldest = queue[first]
        first += 1
        cost -= oldest.cost
        if numbers[oldest.hash] == oldest.number { numbers[oldest.hash] = nil }
    }

    /// Removes the dropped entries when they are half of the queue, at a constant cost for each entry.
    private mutating func compact() {
        guard first > 64, first * 2 > queue.count else { return }
        queue.removeFirst(first)
        first = 0
    }
}
