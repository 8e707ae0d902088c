import Glibc

/// An array of plain values in pages of its own, for a table that grows large and stays.
///
/// `malloc` keeps what a growing array leaves behind, a tenth of all that is used; pages go back to the system. Pages
/// that were never written to take no memory.
package struct PageArray<Element: BitwiseCopyable & Sendable>: Sendable {
    private var pages: Pages

    /// The number of elements.
    package private(set) var count = 0

    /// Creates an empty array.
    package init() { pages = Pages(capacity: 1) }

    /// Creates an array of `count` times the same.
    package init(repeating element: Element, count: Int) {
        pages = Pages(capacity: count)
        pages.start.initialize(repeating: element, count: count)
        self.count = count
    }

    /// Puts an element at the end; takes twice the room where there is none.
    package mutating func append(_ element: Element) {
        if count == pages.capacity { move(to: Pages(capacity: 2 * count)) }
        separate()
        (pages.start + count).initialize(to: element)
        count += 1
    }

    @inline(__always)
    private mutating func separate() {
        if !isKnownUniquelyReferenced(&pages) { move(to: Pages(capacity: pages.capacity)) }
    }

    private mutating func move(to new: Pages) {
        new.start.initialize(from: pages.start, count: count)
        pages = new
    }

    /// Safe to share: only who has the one reference to it writes.
    private final class Pages: @unchecked Sendable {
        let start: UnsafeMutablePointer<Element>
        let capacity: Int
        private let size: Int

        init(capacity wanted: Int) {
            let page = Int(getpagesize())
            size = (Swift.max(1, wanted) * MemoryLayout<Element>.stride + page - 1) / page * page
            guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                memory != MAP_FAILED
            else { fatalError("no memory for a table of \(size) bytes") }
            capacity = size / MemoryLayout<Element>.stride
            start = memory.bindMemory(to: Element.self, capacity: capacity)
        }

        deinit { munmap(start, size) }
    }
}

extension PageArray: RandomAccessCollection, MutableCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return pages.start[index]
        }
        _modify {
            precondition(index >= 0 && index < count)
            separate()
            yield &pages.start[index]
        }
    }
}
