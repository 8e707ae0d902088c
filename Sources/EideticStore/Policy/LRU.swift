/// Lets go what was not used for the longest time.
///
/// Time passes with each entry that comes; entries used between the same two are of one age.
package struct LRU: EvictionPolicy {
    private var heap = PriorityHeap()

    /// How many entries have come.
    package private(set) var clock: Double = 0

    /// Creates a policy.
    package init() {}

    /// Does nothing: the order does not depend on the capacity.
    package mutating func setCapacity(_ bytes: Int) {}

    package mutating func insert(_ slot: Int, hash: UInt64, cost: Int) {
        clock += 1
        heap.insert(slot, priority: clock)
    }

    package mutating func remove(_ slot: Int) { heap.remove(slot) }

    package mutating func evict(usage: (Int) -> EntryUsage) -> Int? {
        while let (slot, priority) = heap.minimum {
            let usage = usage(slot)
            // Half a step: after the entry that came before the use, before the one that comes next.
            guard usage.hits > 0, usage.clock + 0.5 > priority else {
                heap.remove(slot)
                return slot
            }
            heap.update(slot, priority: usage.clock + 0.5)
        }
        return nil
    }
}
