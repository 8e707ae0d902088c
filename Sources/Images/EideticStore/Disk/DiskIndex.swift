package import EideticCore

package struct IndexEntry: Sendable, Hashable {
    package var key: CacheKey
    /// The size of the file in bytes.
    package var size: UInt32
    /// The expiration time in seconds since 1970, rounded up.
    package var expirationSeconds: UInt32 = .max
    /// The clock at the latest access minus the current clock of its group: at most 0; see ``DiskEvictionOrder``.
    package var clockOffset: Float = 0
    package var accessCount: UInt8 = 1
    package var kind = EntryKind.original
    package var importance = EntryImportance.viewed

    package init(key: CacheKey = CacheKey(high: 0, low: 0), size: UInt32 = 0) { (self.key, self.size) = (key, size) }
}

/// An index of a directory in memory: the size, expiration time and eviction priority of each entry.
///
/// A value without file access, of at most 48 bytes an entry. It can be rebuilt from the ledger at any time.
package struct DiskIndex: Sendable {
    private var nodes = PageAlignedBuffer<Node>()
    private var evictionOrder = DiskEvictionOrder()
    private var table: PageAlignedBuffer<UInt32>
    private var firstFreeNode: UInt32 = .none
    private let blockSize: Int

    package private(set) var count = 0
    /// The sum of the file sizes in bytes.
    package private(set) var logicalSize = 0
    /// The bytes that the files use on the device, for originals and derived entries.
    private(set) var allocatedSizeByKind = (original: 0, derived: 0)

    /// Creates an empty index for a file system that allocates space in blocks of `blockSize` bytes.
    package init(blockSize: Int) {
        self.blockSize = max(1, blockSize)
        table = PageAlignedBuffer(repeating: .none, count: 1_024)
    }

    /// The bytes that all files use on the device.
    package var allocatedSize: Int { allocatedSizeByKind.original + allocatedSizeByKind.derived }

    /// Returns the bytes that a file of `size` bytes uses on the device.
    func allocatedSize(forFileSize size: Int) -> Int { (size + blockSize - 1) / blockSize * blockSize }

    package func entry(for key: CacheKey) -> IndexEntry? { slot(of: key).map { nodes[Int(table[$0])].entry } }

    /// Adds the entry of a file that was written, and replaces the previous one.
    package mutating func put(_ entry: IndexEntry) {
        let old = remove(entry.key)
        var entry = entry
        // A replaced entry keeps half of its access count: all of it would never age.
        if let old, entry.accessCount <= 1 { entry.accessCount = max(1, old.accessCount / 2) }
        growIfNeeded()
        let node = allocateNode(Node(entry))
        insert(node, for: entry.key)
        evictionOrder.append(node, clockOffset: entry.clockOffset, in: &nodes)
        adjustTotals(for: entry, sign: 1)
    }

    /// Removes an entry, and returns it if there was one.
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

    /// Records accesses to an entry.
    package mutating func touch(_ key: CacheKey, count: Int) {
        guard let slot = slot(of: key) else { return }
        let node = table[slot]
        evictionOrder.remove(node, in: &nodes)
        nodes[Int(node)].accessCount = UInt8(min(255, Int(nodes[Int(node)].accessCount) + count))
        if nodes[Int(node)].importance == .prefetched { nodes[Int(node)].importance = .viewed }
        evictionOrder.append(node, in: &nodes)
    }

    /// Removes and returns the entry of the lowest eviction priority, or `nil` if the index is empty.
    package mutating func evict(derivedFirst: Bool) -> IndexEntry? {
        guard let node = evictionOrder.victim(derivedFirst: derivedFirst, in: nodes) else { return nil }
        return evict(nodes[Int(node)].key)
    }

    /// Removes an entry because of its low priority, and advances the clock of its group.
    @discardableResult
    mutating func evict(_ key: CacheKey) -> IndexEntry? {
        guard let slot = slot(of: key) else { return nil }
        evictionOrder.advance(past: table[slot], in: &nodes)
        return remove(key)
    }

    /// Calls `body` for all entries, in an order that recreates the eviction order when inserted into an empty index.
    package func forEach(_ body: (IndexEntry) -> Void) {
        evictionOrder.forEach(in: nodes) { node, clockOffset in
            var entry = node.entry
            entry.clockOffset = clockOffset
            body(entry)
        }
    }

    /// Returns the keys of at most `limit` entries that satisfy `condition`, in no order.
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
        let size = sign * allocatedSize(forFileSize: Int(entry.size))
        switch entry.kind {
        case .original: allocatedSizeByKind.original += size
        case .derived: allocatedSizeByKind.derived += size
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

    /// An entry in its queue, in 40 bytes.
    struct Node: Sendable, BitwiseCopyable {
        private let high: UInt64
        private let low: UInt64
        let size: UInt32
        let expirationSeconds: UInt32
        /// The clock of the entry's group at the latest access.
        var clock: Float = 0
        var previous = UInt32.none
        var next = UInt32.none
        var queue = UInt16.none
        var accessCount: UInt8
        private var flags: UInt8

        init(_ entry: IndexEntry) {
            high = entry.key.high
            low = entry.key.low
            size = entry.size
            expirationSeconds = entry.expirationSeconds
            accessCount = max(1, entry.accessCount)
            flags = entry.kind.rawValue | entry.importance.rawValue << 1
        }

        var key: CacheKey { CacheKey(high: high, low: low) }

        var kind: EntryKind { flags & 1 == 0 ? .original : .derived }

        var importance: EntryImportance {
            get { EntryImportance(rawValue: flags >> 1) ?? .viewed }
            set { flags = flags & 1 | newValue.rawValue << 1 }
        }

        var entry: IndexEntry {
            var entry = IndexEntry()
            entry.key = key
            entry.size = size
            entry.expirationSeconds = expirationSeconds
            entry.accessCount = accessCount
            entry.kind = kind
            entry.importance = importance
            return entry
        }
    }
}

// MARK: The hash table: open addressing, linear probing, load factor at most 0.8
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

    /// Empties a slot, and moves up the entries after it that a lookup would no longer reach.
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
    /// The index that stands for no node or slot.
    static let none = UInt32.max
}

extension UInt16 {
    /// The index that stands for no queue.
    static let none = UInt16.max
}
