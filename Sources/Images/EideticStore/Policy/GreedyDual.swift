internal import Glibc

/// Greedy-Dual eviction by uses and size: evicts the entry with the lowest *clock* + *uses*ᵃ ⁄ *bytes*ᵇ.
///
/// The clock is the value of the entry that was evicted last, so an entry that is not used any more falls behind,
/// however often it was used before. *b* is the advantage of small entries: with 0 only bytes count, with 1 only the
/// number of entries. With a history of evicted entries, an entry that is inserted again has its earlier uses.
///
/// With *a* = 1 and without a history this is GDSF.
/// - SeeAlso: Cherkasova, "Improving WWW proxies performance with Greedy-Dual-Size-Frequency caching policy", 1998.
package struct GreedyDual: EvictionPolicy {
    private struct Node: Sendable {
        var hash: UInt32 = 0
        /// 1 ⁄ bytesᵇ.
        var weight: Float = 0
        var uses: UInt8 = 0
    }

    private let sizeExponent: Float
    private let remembersEvicted: Bool
    private let maximumUses: Int
    /// usesᵃ for each number of uses.
    private let usePowers: [Double]
    private var nodes: [Node] = []
    private var heap = PriorityHeap()
    private var ghosts = GhostTable()

    /// The value of the entry that was evicted last.
    package private(set) var clock: Double = 0

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - useExponent: The exponent *a* of the uses.
    ///   - sizeExponent: The exponent *b* of the bytes.
    ///   - maximumUses: The number of uses beyond which further uses do not count, at most 255; 15 by default.
    ///   - remembersEvicted: A Boolean value indicating whether an entry's uses outlive its eviction; true by default.
    package init(
        useExponent: Double,
        sizeExponent: Double,
        maximumUses: Int = GhostTable.maximumUses,
        remembersEvicted: Bool = true
    ) {
        self.sizeExponent = Float(sizeExponent)
        self.remembersEvicted = remembersEvicted
        self.maximumUses = min(maximumUses, 255)
        usePowers = (0...min(maximumUses, 255)).map { pow(Double($0), useExponent) }
    }

    /// The policy of memory caches: the most bytes are found in the cache, because decoding takes time in proportion to
    /// bytes.
    package static var mostBytes: GreedyDual { GreedyDual(useExponent: 1.5, sizeExponent: 0.15) }

    package mutating func insert(_ slot: Int, hash: UInt64, cost: Int) {
        while nodes.count <= slot { nodes.append(Node()) }
        let hash = UInt32(truncatingIfNeeded: hash)
        let previousUses = remembersEvicted ? ghosts.consumeUses(of: hash) : 0
        let weight = powf(Float(max(1, cost)), -sizeExponent)
        nodes[slot] = Node(hash: hash, weight: weight, uses: UInt8(min(maximumUses, previousUses + 1)))
        heap.insert(slot, priority: clock + value(of: nodes[slot]))
    }

    package mutating func remove(_ slot: Int) { heap.remove(slot) }

    package mutating func evict(usage: (Int) -> EntryUsage) -> Int? {
        while let (slot, priority) = heap.minimum {
            let usage = usage(slot)
            guard usage.hits > 0 else { return removeEvicted(slot, priority: priority) }
            nodes[slot].uses = UInt8(min(maximumUses, Int(nodes[slot].uses) + usage.hits))
            heap.update(slot, priority: max(priority, usage.clock + value(of: nodes[slot])))
        }
        return nil
    }

    private mutating func removeEvicted(_ slot: Int, priority: Double) -> Int {
        clock = priority
        if remembersEvicted {
            ghosts.reserve(entryCount: heap.count)
            ghosts.insert(nodes[slot].hash, uses: Int(nodes[slot].uses))
        }
        heap.remove(slot)
        return slot
    }

    private func value(of node: Node) -> Double { usePowers[Int(node.uses)] * Double(node.weight) }
}
