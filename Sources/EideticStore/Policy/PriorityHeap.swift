/// Slots in the order of a number that each has: the least first.
///
/// A heap with four children a node, which is one level less than half of a binary one's. Twenty bytes a slot.
struct PriorityHeap: Sendable {
    private struct Element: Sendable {
        var priority: Double
        var slot: Int32
    }

    private var elements: [Element] = []
    /// Where each slot stands in `elements`; -1 where it does not.
    private var places: [Int32] = []

    /// The slot with the least priority.
    var least: (slot: Int, priority: Double)? {
        elements.first.map { (Int($0.slot), $0.priority) }
    }

    /// The number of slots.
    var count: Int { elements.count }

    /// Puts a slot in that is not there.
    mutating func insert(_ slot: Int, _ priority: Double) {
        while places.count <= slot { places.append(-1) }
        elements.append(Element(priority: priority, slot: Int32(slot)))
        rise(Element(priority: priority, slot: Int32(slot)), from: elements.count - 1)
    }

    /// Gives a slot that is there another priority.
    mutating func update(_ slot: Int, _ priority: Double) {
        settle(Element(priority: priority, slot: Int32(slot)), at: Int(places[slot]))
    }

    /// Takes a slot out that is there.
    mutating func remove(_ slot: Int) {
        let place = Int(places[slot])
        places[slot] = -1
        let last = elements.removeLast()
        if place < elements.count { settle(last, at: place) }
    }

    private mutating func settle(_ element: Element, at place: Int) {
        if place > 0, element.priority < elements[(place - 1) / 4].priority {
            rise(element, from: place)
        } else {
            sink(element, from: place)
        }
    }

    /// Moves a free place up until `element` may stand in it.
    private mutating func rise(_ element: Element, from place: Int) {
        move { elements, places in
            var place = place
            while place > 0 {
                let parent = (place - 1) / 4
                guard element.priority < elements[parent].priority else { break }
                Self.put(elements[parent], at: place, elements, places)
                place = parent
            }
            Self.put(element, at: place, elements, places)
        }
    }

    /// Moves a free place down until `element` may stand in it.
    private mutating func sink(_ element: Element, from place: Int) {
        move { elements, places in
            var place = place
            while let (child, priority) = Self.leastChild(of: place, elements), priority < element.priority {
                Self.put(elements[child], at: place, elements, places)
                place = child
            }
            Self.put(element, at: place, elements, places)
        }
    }

    /// Gives `body` the elements and places of both arrays, so that whether they are shared and how many there are is
    /// asked once and not at each step.
    ///
    /// Safe: `body` stays below the number of elements, and each element's slot has a place.
    private mutating func move(
        _ body: (_ elements: UnsafeMutableBufferPointer<Element>, _ places: UnsafeMutableBufferPointer<Int32>) -> Void
    ) {
        elements.withUnsafeMutableBufferPointer { elements in
            places.withUnsafeMutableBufferPointer { places in body(elements, places) }
        }
    }

    /// Where the child with the least priority stands, and that priority.
    @inline(__always)
    private static func leastChild(
        of place: Int,
        _ elements: UnsafeMutableBufferPointer<Element>
    ) -> (place: Int, priority: Double)? {
        let first = place &* 4 &+ 1
        guard first &+ 3 < elements.count else { return leastOfFewChildren(from: first, elements) }
        // Four reads and two choices that do not wait for each other, and then one.
        let (a, b) = (elements[first].priority, elements[first &+ 1].priority)
        let (c, d) = (elements[first &+ 2].priority, elements[first &+ 3].priority)
        let left = b < a ? (first &+ 1, b) : (first, a)
        let right = d < c ? (first &+ 3, d) : (first &+ 2, c)
        return right.1 < left.1 ? right : left
    }

    private static func leastOfFewChildren(
        from first: Int,
        _ elements: UnsafeMutableBufferPointer<Element>
    ) -> (place: Int, priority: Double)? {
        guard first < elements.count else { return nil }
        var least = first
        for child in first..<elements.count where elements[child].priority < elements[least].priority { least = child }
        return (least, elements[least].priority)
    }

    @inline(__always)
    private static func put(
        _ element: Element,
        at place: Int,
        _ elements: UnsafeMutableBufferPointer<Element>,
        _ places: UnsafeMutableBufferPointer<Int32>
    ) {
        elements[place] = element
        places[Int(element.slot)] = Int32(truncatingIfNeeded: place)
    }
}
