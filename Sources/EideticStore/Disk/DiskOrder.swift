import EideticCore
import Glibc

extension DiskIndex {
    /// An entry in its queue: 40 bytes.
    struct Node: Sendable, BitwiseCopyable {
        private let high: UInt64
        private let low: UInt64
        let size: UInt32
        let expirationSeconds: UInt32
        /// The clock of its group when it was last used.
        var clock: Float = 0
        var previous = UInt32.none
        var next = UInt32.none
        var queue = UInt16.none
        var accessCount: UInt8
        private var flags: UInt8

        init(_ entry: IndexEntry) {
            (high, low) = (entry.key.high, entry.key.low)
            size = entry.size
            expirationSeconds = entry.expirationSeconds
            accessCount = max(1, entry.accessCount)
            flags = entry.kind.rawValue | entry.importance.rawValue << 1
        }

        var key: CacheKey { CacheKey(high: high, low: low) }

        var kind: DiskCache.Metadata.Kind { flags & 1 == 0 ? .original : .derived }

        var importance: DiskCache.Metadata.Importance {
            get { DiskCache.Metadata.Importance(rawValue: flags >> 1) ?? .viewed }
            set { flags = flags & 1 | newValue.rawValue << 1 }
        }

        var entry: IndexEntry {
            var entry = IndexEntry()
            (entry.key, entry.size, entry.expirationSeconds, entry.accessCount) = (
                key, size, expirationSeconds, accessCount
            )
            (entry.kind, entry.importance) = (kind, importance)
            return entry
        }
    }
}

/// The order in which entries go: Greedy-Dual by uses and size, in constant time.
///
/// An entry is worth `clock + uses^1.5 / size^0.7`, with the clock of its latest use; the clock moves on to the worth of
/// what goes. The exponents were found by replaying traces, as was that uses beyond 15 should not count. The second term is rounded to an eighth of a factor of two. Entries with the same rounded term form a queue,
/// and stand in it in the order of their clocks: so the one that is worth least is at the head of some queue, and no
/// heap is needed. Originals, derived entries and what the user put in have queues and clocks of their own.
/// - SeeAlso: Cherkasova, "Improving WWW proxies performance with GreedyDual-Size-Frequency caching policy", 1998.
struct DiskEvictionOrder: Sendable {
    private static let classCount = 192
    private static let groupCount = 4
    /// A clock beyond this is set back: 32-bit floats are too coarse there.
    private static let clockLimit: Float = 16
    /// The binary logarithm of the least worth that is told from less.
    private static let minimumExponent: Float = -20
    private static let classPriorities = (0..<classCount).map { exp2f(Float($0) / 8 + minimumExponent) }

    private var heads = ContiguousArray(repeating: UInt32.none, count: groupCount * classCount)
    private var tails = ContiguousArray(repeating: UInt32.none, count: groupCount * classCount)
    private var clocks = [Float](repeating: 0, count: groupCount)

    typealias Nodes = PageAlignedBuffer<DiskIndex.Node>

    /// 0: originals, 1: derived, 2: the user's originals, 3: the user's derived ones.
    private static func group(of node: DiskIndex.Node) -> Int {
        Int(node.kind.rawValue) + (node.importance == .user ? 2 : 0)
    }

    private static func priorityClass(of node: DiskIndex.Node) -> Int {
        // What was prefetched and never seen counts half.
        let weight: Float = node.importance == .prefetched ? -1 : 0
        let priority = 1.5 * log2f(Float(min(15, node.accessCount))) - 0.7 * log2f(Float(max(64, node.size))) + weight
        return max(0, min(classCount - 1, Int(((priority - minimumExponent) * 8).rounded())))
    }

    /// Puts a node at the end of its queue, `age` behind the clock of its group.
    mutating func append(_ node: UInt32, clockOffset: Float = 0, in nodes: inout Nodes) {
        let index = Int(node)
        let group = Self.group(of: nodes[index])
        let queue = group * Self.classCount + Self.priorityClass(of: nodes[index])
        nodes[index].clock = clocks[group] + clockOffset
        nodes[index].queue = UInt16(queue)
        nodes[index].next = .none
        nodes[index].previous = tails[queue]
        if tails[queue] == .none { heads[queue] = node } else { nodes[Int(tails[queue])].next = node }
        tails[queue] = node
    }

    /// Takes a node out of its queue.
    mutating func remove(_ node: UInt32, in nodes: inout Nodes) {
        let (queue, previous, next) = (Int(nodes[Int(node)].queue), nodes[Int(node)].previous, nodes[Int(node)].next)
        if previous == .none { heads[queue] = next } else { nodes[Int(previous)].next = next }
        if next == .none { tails[queue] = previous } else { nodes[Int(next)].previous = previous }
        nodes[Int(node)].queue = .none
    }

    /// The node that is worth least, without taking it out.
    func victim(derivedFirst: Bool, in nodes: Nodes) -> UInt32? {
        for group in derivedFirst ? [1, 0, 3, 2] : [0, 1, 2, 3] {
            var lowest: (node: UInt32, worth: Float)?
            for index in 0..<Self.classCount {
                let head = heads[group * Self.classCount + index]
                if head == .none { continue }
                let priority = nodes[Int(head)].clock + Self.classPriorities[index]
                if priority < lowest?.worth ?? .infinity { lowest = (head, priority) }
            }
            if let lowest { return lowest.node }
        }
        return nil
    }

    /// Moves the clock of a node's group on to the node's worth.
    mutating func advance(past node: UInt32, in nodes: inout Nodes) {
        let queue = Int(nodes[Int(node)].queue)
        let group = queue / Self.classCount
        clocks[group] = max(clocks[group], nodes[Int(node)].clock + Self.classPriorities[queue % Self.classCount])
        if clocks[group] > Self.clockLimit { rebaseClock(of: group, in: &nodes) }
    }

    private mutating func rebaseClock(of group: Int, in nodes: inout Nodes) {
        let clock = clocks[group]
        clocks[group] = 0
        for index in nodes.indices
        where nodes[index].queue != .none && Int(nodes[index].queue) / Self.classCount == group {
            nodes[index].clock -= clock
        }
    }

    /// All nodes, each queue in its order, and how far behind the clock of its group each is.
    func forEach(in nodes: Nodes, body: (DiskIndex.Node, _ age: Float) -> Void) {
        for queue in heads.indices {
            var node = heads[queue]
            while node != .none {
                body(nodes[Int(node)], nodes[Int(node)].clock - clocks[queue / Self.classCount])
                node = nodes[Int(node)].next
            }
        }
    }
}
