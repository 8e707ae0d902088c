/// Doubly linked lists of slots in one array, without an object for each element.
struct SlotLinks: Sendable {
    private struct Link: Sendable {
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private var links: [Link] = []

    /// Makes room for `slot`.
    mutating func reserve(_ slot: Int) {
        while links.count <= slot { links.append(Link()) }
    }

    /// The ends of one list, and its bytes.
    struct List: Sendable {
        fileprivate var head: Int32 = -1
        fileprivate var tail: Int32 = -1
        /// The bytes of all elements.
        var cost = 0

        /// The element that was inserted first.
        var oldest: Int? { tail < 0 ? nil : Int(tail) }
    }

    /// Inserts `slot` as the newest element.
    mutating func prepend(_ slot: Int, cost: Int, to list: inout List) {
        links[slot] = Link(previous: -1, next: list.head)
        if list.head >= 0 { links[Int(list.head)].previous = Int32(slot) } else { list.tail = Int32(slot) }
        list.head = Int32(slot)
        list.cost += cost
    }

    /// Removes `slot` from its list.
    mutating func remove(_ slot: Int, cost: Int, from list: inout List) {
        let link = links[slot]
        if link.previous >= 0 { links[Int(link.previous)].next = link.next } else { list.head = link.next }
        if link.next >= 0 { links[Int(link.next)].previous = link.previous } else { list.tail = link.previous }
        list.cost -= cost
    }
}
