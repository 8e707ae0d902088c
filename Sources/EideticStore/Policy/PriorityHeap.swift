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
        var place = place
        while place > 0 {
            let parent = (place - 1) / 4
            guard element.priority < elements[parent].priority else { break }
            put(elements[parent], at: place)
            place = parent
        }
        put(element, at: place)
    }

    /// Moves a free place down until `element` may stand in it.
    private mutating func sink(_ element: Element, from place: Int) {
        var place = place
        while let child = leastChild(of: place), elements[child].priority < element.priority {
            put(elements[child], at: place)
            place = child
        }
        put(element, at: place)
    }

    private func leastChild(of place: Int) -> Int? {
        let first = place * 4 + 1
        guard first < elements.count else { return nil }
        var least = first
        for child in (first + 1)..<max(first + 1, min(first + 4, elements.count))
        where elements[child].priority < elements[least].priority {
            least = child
        }
        return least
    }

    private mutating func put(_ element: Element, at place: Int) {
        elements[place] = element
        places[Int(element.slot)] = Int32(place)
    }
}
