package import EideticStore

/// S3-FIFO in bytes: a small queue of new entries, a main queue of entries that were used again, and a history.
///
/// Entries that are used only once, as in a scan, pass through the small queue and leave the main queue alone.
/// - SeeAlso: Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
package struct S3FIFO: EvictionPolicy {
    private struct Node: Sendable {
        var hash: UInt64 = 0
        var cost = 0
        var hits: UInt8 = 0
        var isMain = false
    }

    private let capacity: Int
    private var nodes: [Node] = []
    private var links = SlotLinks()
    private var small = SlotLinks.List()
    private var main = SlotLinks.List()
    private var ghosts: GhostQueue

    /// Creates a policy for a cache of `capacity` bytes.
    package init(capacity: Int) {
        self.capacity = capacity
        ghosts = GhostQueue(capacity: capacity - capacity / 10)
    }

    /// Always 0; the policy needs no time.
    package var clock: Double { 0 }

    package mutating func insert(_ slot: Int, hash: UInt64, cost: Int) {
        while nodes.count <= slot { nodes.append(Node()) }
        links.reserve(slot)
        nodes[slot] = Node(hash: hash, cost: cost, hits: 0, isMain: ghosts.remove(hash))
        append(slot)
    }

    package mutating func remove(_ slot: Int) { unlink(slot) }

    package mutating func evict(usage: (Int) -> EntryUsage) -> Int? {
        while true {
            let prefersSmall = small.cost > capacity / 10 || main.oldest == nil
            if prefersSmall, let slot = small.oldest {
                if evictFromSmall(slot, usage: usage(slot)) { return slot }
            } else if let slot = main.oldest {
                if evictFromMain(slot, usage: usage(slot)) { return slot }
            } else {
                return nil
            }
        }
    }

    /// Evicts the oldest new entry, or moves it to the main queue if it was hit twice.
    private mutating func evictFromSmall(_ slot: Int, usage: EntryUsage) -> Bool {
        let node = nodes[slot]
        unlink(slot)
        guard usage.hits > 1 else {
            ghosts.insert(node.hash, cost: node.cost)
            return true
        }
        nodes[slot].isMain = true
        nodes[slot].hits = 0
        append(slot)
        return false
    }

    /// Evicts the oldest entry of the main queue, or inserts it again at the price of one of its hits.
    private mutating func evictFromMain(_ slot: Int, usage: EntryUsage) -> Bool {
        let hits = min(3, Int(nodes[slot].hits) + usage.hits)
        unlink(slot)
        guard hits > 0 else { return true }
        nodes[slot].hits = UInt8(hits - 1)
        append(slot)
        return false
    }

    private mutating func append(_ slot: Int) {
        updateQueue(of: slot) { links, queue, cost in links.prepend(slot, cost: cost, to: &queue) }
    }

    private mutating func unlink(_ slot: Int) {
        updateQueue(of: slot) { links, queue, cost in links.remove(slot, cost: cost, from: &queue) }
    }

    private mutating func updateQueue(of slot: Int, by change: (inout SlotLinks, inout SlotLinks.List, Int) -> Void) {
        let node = nodes[slot]
        if node.isMain { change(&links, &main, node.cost) } else { change(&links, &small, node.cost) }
    }
}
