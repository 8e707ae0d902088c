import Glibc

/// A growing array of plain values in memory pages of its own, for large long-lived tables.
///
/// `malloc` keeps a tenth of its memory as remainders of grown arrays; pages are returned to the system. Pages that
/// were never written occupy no memory.
package struct PageAlignedBuffer<Element: BitwiseCopyable & Sendable>: Sendable {
    private var storage: Storage

    package private(set) var count = 0

    /// Creates an empty buffer.
    package init() { storage = Storage(capacity: 1) }

    /// Creates a buffer of `count` equal elements.
    package init(repeating element: Element, count: Int) {
        storage = Storage(capacity: count)
        storage.baseAddress.initialize(repeating: element, count: count)
        self.count = count
    }

    /// Appends an element; doubles the capacity if the buffer is full.
    package mutating func append(_ element: Element) {
        if count == storage.capacity { reallocate(into: Storage(capacity: 2 * count)) }
        makeUnique()
        (storage.baseAddress + count).initialize(to: element)
        count += 1
    }

    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) { reallocate(into: Storage(capacity: storage.capacity)) }
    }

    private mutating func reallocate(into new: Storage) {
        new.baseAddress.initialize(from: storage.baseAddress, count: count)
        storage = new
    }

    /// Safe to share: memory is written only through a unique reference.
    private final class Storage: @unchecked Sendable {
        let baseAddress: UnsafeMutablePointer<Element>
        let capacity: Int
        private let byteCount: Int

        init(capacity minimumCapacity: Int) {
            let page = Int(getpagesize())
            byteCount = (Swift.max(1, minimumCapacity) * MemoryLayout<Element>.stride + page - 1) / page * page
            guard let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                memory != MAP_FAILED
            else { fatalError("not enough memory for a table of \(byteCount) bytes") }
            capacity = byteCount / MemoryLayout<Element>.stride
            baseAddress = memory.bindMemory(to: Element.self, capacity: capacity)
        }

        deinit { munmap(baseAddress, byteCount) }
    }
}

extension PageAlignedBuffer: RandomAccessCollection, MutableCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return storage.baseAddress[index]
        }
        _modify {
            precondition(index >= 0 && index < count)
            makeUnique()
            yield &storage.baseAddress[index]
        }
    }
}
