/// A priority queue of slots, the lowest priority first.
///
/// It is a heap with four children a node, which has half as many levels as a binary one. It takes twenty bytes a slot.
package struct PriorityHeap: Sendable {
    private struct Element: Sendable {
        var priority: Double
        var slot: Int32
    }

    private var elements: [Element] = []
    /// The index of each slot in `elements`; -1 for a slot that is not in the heap.
    private var positions: [Int32] = []

    /// Creates an empty queue.
    package init() {}

    /// The slot with the lowest priority.
    package var minimum: (slot: Int, priority: Double)? {
        elements.first.map { (Int($0.slot), $0.priority) }
    }

    package var count: Int { elements.count }

    /// Inserts a slot that is not in the heap.
    package mutating func insert(_ slot: Int, priority: Double) {
        while positions.count <= slot { positions.append(-1) }
        elements.append(Element(priority: priority, slot: Int32(slot)))
        siftUp(Element(priority: priority, slot: Int32(slot)), from: elements.count - 1)
    }

    package mutating func update(_ slot: Int, priority: Double) {
        sift(Element(priority: priority, slot: Int32(slot)), at: Int(positions[slot]))
    }

    package mutating func remove(_ slot: Int) {
        let index = Int(positions[slot])
        positions[slot] = -1
        let last = elements.removeLast()
        if index < elements.count { sift(last, at: index) }
    }

    /// Stores `element`, starting from the free index `index`.
    private mutating func sift(_ element: Element, at index: Int) {
        if index > 0, element.priority < elements[(index - 1) / 4].priority {
            siftUp(element, from: index)
        } else {
            siftDown(element, from: index)
        }
    }

    /// Moves a free index up until `element` belongs there.
    private mutating func siftUp(_ element: Element, from index: Int) {
        withBuffers { elements, positions in
            var index = index
            while index > 0 {
                let parent = (index - 1) / 4
                guard element.priority < elements[parent].priority else { break }
                Self.store(elements[parent], at: index, elements: elements, positions: positions)
                index = parent
            }
            Self.store(element, at: index, elements: elements, positions: positions)
        }
    }

    /// Moves a free index down until `element` belongs there.
    private mutating func siftDown(_ element: Element, from index: Int) {
        withBuffers { elements, positions in
            var index = index
            while let (child, priority) = Self.minimumChild(of: index, in: elements), priority < element.priority {
                Self.store(elements[child], at: index, elements: elements, positions: positions)
                index = child
            }
            Self.store(element, at: index, elements: elements, positions: positions)
        }
    }

    /// Calls `body` with the memory of both arrays, so that uniqueness and bounds are checked once, not at each step.
    ///
    /// Safe: `body` stays below the number of elements, and each element's slot has a position.
    private mutating func withBuffers(
        _ body: (
            _ elements: UnsafeMutableBufferPointer<Element>, _ positions: UnsafeMutableBufferPointer<Int32>
        ) -> Void
    ) {
        elements.withUnsafeMutableBufferPointer { elements in
            positions.withUnsafeMutableBufferPointer { positions in body(elements, positions) }
        }
    }

    /// Returns the child of `index` with the lowest priority.
    @inline(__always)
    private static func minimumChild(
        of index: Int,
        in elements: UnsafeMutableBufferPointer<Element>
    ) -> (index: Int, priority: Double)? {
        let first = index &* 4 &+ 1
        guard first &+ 3 < elements.count else { return minimumChild(from: first, in: elements) }
        // Four independent reads, two independent choices, and one that depends on both.
        let (a, b) = (elements[first].priority, elements[first &+ 1].priority)
        let (c, d) = (elements[first &+ 2].priority, elements[first &+ 3].priority)
        let left = b < a ? (first &+ 1, b) : (first, a)
        let right = d < c ? (first &+ 3, d) : (first &+ 2, c)
        return right.1 < left.1 ? right : left
    }

    /// Returns the minimum of the last children, which are fewer than four.
    private static func minimumChild(
        from first: Int,
        in elements: UnsafeMutableBufferPointer<Element>
    ) -> (index: Int, priority: Double)? {
        guard first < elements.count else { return nil }
        var minimum = first
        for child in first..<elements.count where elements[child].priority < elements[minimum].priority {
            minimum = child
        }
        return (minimum, elements[minimum].priority)
    }

    @inline(__always)
    private static func store(
        _ element: Element,
        at index: Int,
        elements: UnsafeMutableBufferPointer<Element>,
        positions: UnsafeMutableBufferPointer<Int32>
    ) {
        elements[index] = element
        positions[Int(element.slot)] = Int32(truncatingIfNeeded: index)
    }
}
