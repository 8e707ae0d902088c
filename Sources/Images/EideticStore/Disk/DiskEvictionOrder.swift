import EideticCore
import Glibc

/// The eviction order of entries: Greedy-Dual-Size-Frequency in constant time.
///
/// The priority of an entry is `clock + accesses^1.5 / size^0.7`, with the clock of its latest access. An eviction
/// advances the clock to the priority of the evicted entry. The exponents, and the limit of 15 accesses, come from
/// replays of recorded requests.
///
/// The second term is rounded to an eighth of a factor of two. Entries with the same rounded term form a queue in the
/// order of their clocks. The lowest priority is therefore at the head of a queue, and no heap is needed. Originals,
/// derived entries and the user's entries have queues and clocks of their own.
/// - SeeAlso: Cherkasova, "Improving WWW proxies performance with GreedyDual-Size-Frequency caching policy", 1998.
struct DiskEvictionOrder: Sendable {
    private static let classCount = 192
    private static let groupCount = 4
    /// The value at which a clock is rebased, because 32-bit floats are too coarse beyond it.
    private static let clockLimit: Float = 16
    /// The binary logarithm of the lowest priority class.
    private static let minimumExponent: Float = -20
    private static let classPriorities = (0..<classCount).map { exp2f(Float($0) / 8 + minimumExponent) }

    private var heads = ContiguousArray(repeating: UInt32.none, count: groupCount * classCount)
    private var tails = ContiguousArray(repeating: UInt32.none, count: groupCount * classCount)
    private var clocks = [Float](repeating: 0, count: groupCount)

    typealias Nodes = PageAlignedBuffer<DiskIndex.Node>

    /// Returns 0 for originals, 1 for derived entries, 2 for the user's originals, 3 for the user's derived entries.
    private static func group(of node: DiskIndex.Node) -> Int {
        Int(node.kind.rawValue) + (node.importance == .user ? 2 : 0)
    }

    private static func priorityClass(of node: DiskIndex.Node) -> Int {
        // An entry that was prefetched and never read counts half.
        let weight: Float = node.importance == .prefetched ? -1 : 0
        let priority = 1.5 * log2f(Float(min(15, node.accessCount))) - 0.7 * log2f(Float(max(64, node.size))) + weight
        return max(0, min(classCount - 1, Int(((priority - minimumExponent) * 8).rounded())))
    }

    /// Appends a node to its queue, with a clock relative to that of its group.
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

    mutating func remove(_ node: UInt32, in nodes: inout Nodes) {
        let (queue, previous, next) = (Int(nodes[Int(node)].queue), nodes[Int(node)].previous, nodes[Int(node)].next)
        if previous == .none { heads[queue] = next } else { nodes[Int(previous)].next = next }
        if next == .none { tails[queue] = previous } else { nodes[Int(next)].previous = previous }
        nodes[Int(node)].queue = .none
    }

    /// Returns the node of the lowest priority, or `nil` if there is none.
    func victim(derivedFirst: Bool, in nodes: Nodes) -> UInt32? {
        for group in derivedFirst ? [1, 0, 3, 2] : [0, 1, 2, 3] {
            var lowest: (node: UInt32, priority: Float)?
            for index in 0..<Self.classCount {
                let head = heads[group * Self.classCount + index]
                if head == .none { continue }
                let priority = nodes[Int(head)].clock + Self.classPriorities[index]
                if priority < lowest?.priority ?? .infinity { lowest = (head, priority) }
            }
            if let lowest { return lowest.node }
        }
        return nil
    }

    /// Advances the clock of a node's group to the node's priority.
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

    /// Calls `body` for all nodes, queue by queue, with their clocks relative to those of their groups.
    func forEach(in nodes: Nodes, body: (DiskIndex.Node, _ clockOffset: Float) -> Void) {
        for queue in heads.indices {
            var node = heads[queue]
            while node != .none {
                body(nodes[Int(node)], nodes[Int(node)].clock - clocks[queue / Self.classCount])
                node = nodes[Int(node)].next
            }
        }
    }
}
