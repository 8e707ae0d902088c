package import EideticStore

/// Eviction of the entry that was not used for the longest time.
///
/// Time advances with each insertion; entries used between the same two insertions have the same age.
package struct LRU: EvictionPolicy {
    private var heap = PriorityHeap()

    /// The number of insertions.
    package private(set) var clock: Double = 0

    /// Creates a policy.
    package init() {}

    package mutating func insert(_ slot: Int, hash: UInt64, cost: Int) {
        clock += 1
        heap.insert(slot, priority: clock)
    }

    package mutating func remove(_ slot: Int) { heap.remove(slot) }

    package mutating func evict(usage: (Int) -> EntryUsage) -> Int? {
        while let (slot, priority) = heap.minimum {
            let usage = usage(slot)
            // Half a step: later than the insertion before the use, earlier than the insertion after it.
            guard usage.hits > 0, usage.clock + 0.5 > priority else {
                heap.remove(slot)
                return slot
            }
            heap.update(slot, priority: usage.clock + 0.5)
        }
        return nil
    }
}
