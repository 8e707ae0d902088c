package import EideticCore

/// What the ledger knows of an entry.
package struct IndexEntry: Sendable, Hashable {
    package var key: CacheKey
    /// Bytes of the file.
    package var size: UInt32
    /// Seconds since 1970, rounded up.
    package var expirationSeconds: UInt32 = .max
    /// How far its latest use is behind the clock of the order of eviction: 0 for now, else less; see ``DiskOrder``.
    package var clockOffset: Float = 0
    package var accessCount: UInt8 = 1
    package var kind = DiskCache.Metadata.Kind.original
    package var importance = DiskCache.Metadata.Importance.viewed

    package init(key: CacheKey = CacheKey(high: 0, low: 0), size: UInt32 = 0) { (self.key, self.size) = (key, size) }
}

/// What a process remembers of a directory: each entry's size, age and rank, in at most 48 bytes an entry.
///
/// A pure value: it does no file work. It is a copy of what the ledger says, and can be made again from it.
package struct DiskIndex: Sendable {
    private var nodes = PageAlignedBuffer<Node>()
    private var evictionOrder = DiskEvictionOrder()
    private var table: PageAlignedBuffer<UInt32>
    private var firstFreeNode: UInt32 = .none
    private let blockSize: Int

    /// The number of entries.
    package private(set) var count = 0
    /// The bytes of all files.
    package private(set) var logicalSize = 0
    /// The bytes that the files take on the device: originals, then derived ones.
    private(set) var allocatedSizeByKind = (original: 0, derived: 0)

    /// Creates an index for a file system that gives room in units of `block` bytes.
    package init(blockSize: Int) {
        self.blockSize = max(1, blockSize)
        table = PageAlignedBuffer(repeating: .none, count: 1_024)
    }

    /// The bytes that all files take on the device.
    package var allocatedSize: Int { allocatedSizeByKind.original + allocatedSizeByKind.derived }

    /// The bytes that a file of `size` bytes takes on the device.
    func allocatedSize(forFileSize size: Int) -> Int { (size + blockSize - 1) / blockSize * blockSize }

    package func entry(for key: CacheKey) -> IndexEntry? { slot(of: key).map { nodes[Int(table[$0])].entry } }

    /// Notes that a file is in place, instead of the one before.
    package mutating func put(_ entry: IndexEntry) {
        let old = remove(entry.key)
        var entry = entry
        // What comes again keeps some of its fame; all of it would never age.
        if let old, entry.accessCount <= 1 { entry.accessCount = max(1, old.accessCount / 2) }
        growIfNeeded()
        let node = allocateNode(Node(entry))
        insert(node, for: entry.key)
        evictionOrder.append(node, clockOffset: entry.clockOffset, in: &nodes)
        adjustTotals(for: entry, sign: 1)
    }

    /// Notes that a file went; gives what was known of it.
    @discardableResult
    package mutating func remove(_ key: CacheKey) -> IndexEntry? {
        guard let slot = slot(of: key) else { return nil }
        let node = table[slot]
        let entry = nodes[Int(node)].entry
        evictionOrder.remove(node, in: &nodes)
        eraseSlot(slot)
        nodes[Int(node)].next = firstFreeNode
        nodes[Int(node)].queue = .none
        firstFreeNode = node
        adjustTotals(for: entry, sign: -1)
        return entry
    }

    /// Notes that an entry was used.
    package mutating func touch(_ key: CacheKey, count: Int) {
        guard let slot = slot(of: key) else { return }
        let node = table[slot]
        evictionOrder.remove(node, in: &nodes)
        nodes[Int(node)].accessCount = UInt8(min(255, Int(nodes[Int(node)].accessCount) + count))
        if nodes[Int(node)].importance == .prefetched { nodes[Int(node)].importance = .viewed }
        evictionOrder.append(node, in: &nodes)
    }

    /// Takes the entry out that is worth least; `nil` where there is none.
    package mutating func evict(derivedFirst: Bool) -> IndexEntry? {
        guard let node = evictionOrder.victim(derivedFirst: derivedFirst, in: nodes) else { return nil }
        return evict(nodes[Int(node)].key)
    }

    /// Takes an entry out because it was worth least.
    @discardableResult
    mutating func evict(_ key: CacheKey) -> IndexEntry? {
        guard let slot = slot(of: key) else { return nil }
        evictionOrder.advance(past: table[slot], in: &nodes)
        return remove(key)
    }

    /// All entries, so that putting them into an empty index in this order gives the same order of eviction.
    package func forEach(_ body: (IndexEntry) -> Void) {
        evictionOrder.forEach(in: nodes) { node, age in
            var entry = node.entry
            entry.clockOffset = age
            body(entry)
        }
    }

    /// The keys of at most `limit` entries for which `condition` holds, in no order.
    func keys(limit: Int = .max, where condition: (Node) -> Bool) -> [CacheKey] {
        var keys: [CacheKey] = []
        for node in nodes where node.queue != .none && condition(node) {
            keys.append(node.key)
            if keys.count == limit { break }
        }
        return keys
    }

    private mutating func adjustTotals(for entry: IndexEntry, sign: Int) {
        count += sign
        logicalSize += sign * Int(entry.size)
        let allocated = sign * allocatedSize(forFileSize: Int(entry.size))
        switch entry.kind {
        case .original: allocatedSizeByKind.original += allocated
        case .derived: allocatedSizeByKind.derived += allocated
        }
    }

    private mutating func allocateNode(_ node: Node) -> UInt32 {
        guard firstFreeNode != .none else {
            nodes.append(node)
            return UInt32(nodes.count - 1)
        }
        let index = firstFreeNode
        firstFreeNode = nodes[Int(index)].next
        nodes[Int(index)] = node
        return index
    }
}

// MARK: The table: open addressing, linear probing, at most 80 % full.
extension DiskIndex {
    private func homeSlot(of key: CacheKey) -> Int { Int(key.low.multipliedFullWidth(by: UInt64(table.count)).high) }

    private func slot(of key: CacheKey) -> Int? {
        var slot = homeSlot(of: key)
        while table[slot] != .none {
            if nodes[Int(table[slot])].key == key { return slot }
            slot = slot + 1 == table.count ? 0 : slot + 1
        }
        return nil
    }

    private mutating func insert(_ node: UInt32, for key: CacheKey) {
        var slot = homeSlot(of: key)
        while table[slot] != .none { slot = slot + 1 == table.count ? 0 : slot + 1 }
        table[slot] = node
    }

    /// Empties a slot, and moves those behind it up that would not be found any more.
    private mutating func eraseSlot(_ slot: Int) {
        var hole = slot
        var next = slot
        while true {
            next = next + 1 == table.count ? 0 : next + 1
            guard table[next] != .none else { break }
            let home = homeSlot(of: nodes[Int(table[next])].key)
            let distance = next >= home ? next - home : next - home + table.count
            let gap = next >= hole ? next - hole : next - hole + table.count
            if distance >= gap {
                table[hole] = table[next]
                hole = next
            }
        }
        table[hole] = .none
    }

    private mutating func growIfNeeded() {
        guard (count + 1) * 5 > table.count * 4 else { return }
        table = PageAlignedBuffer(repeating: .none, count: table.count * 3 / 2)
        for index in nodes.indices where nodes[index].queue != .none {
            insert(UInt32(index), for: nodes[index].key)
        }
    }
}

extension UInt32 {
    /// No node, no slot.
    static let none = UInt32.max
}

extension UInt16 {
    /// In no queue.
    static let none = UInt16.max
}
