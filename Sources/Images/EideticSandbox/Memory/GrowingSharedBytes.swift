import EideticCore

/// Encoded bytes that one process reads while this one appends to them, and that only this one can change.
///
/// Unchecked values of the memory behind ``count`` are never read by anybody.
struct GrowingSharedBytes {
    /// The number of bytes so far.
    private(set) var count = 0
    private var mapped: MappedMemory
    /// The descriptor of the memory, until it is passed on.
    private var descriptor: SharedMemory?

    /// The address space of bytes whose number is not known yet: 16 MiB, of which only what is written takes memory.
    private static let minimumCapacity = 16 << 20

    /// Creates memory for `byteCount` bytes and, unless they are all, for those that follow.
    init(byteCount: Int, isComplete: Bool) throws(EideticError) {
        let capacity = isComplete ? max(1, byteCount) : max(Self.minimumCapacity, 2 * byteCount)
        (mapped, descriptor) = try Self.makeMemory(byteCount: capacity)
    }

    var capacity: Int { mapped.byteCount }

    private static func makeMemory(byteCount: Int) throws(EideticError) -> (MappedMemory, SharedMemory?) {
        let memory = try SharedMemory(byteCount: byteCount)
        let mapped = try memory.map()
        memory.forbidWriters()
        return (mapped, memory)
    }

    /// Appends bytes; returns `false` if the memory was replaced by a larger one, which is to be passed on.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> Bool {
        let needed = count + bytes.count
        let isEnough = needed <= capacity
        if !isEnough { try move(toCapacity: 2 * needed) }
        if let start = bytes.baseAddress { (mapped.base + count).copyMemory(from: start, byteCount: bytes.count) }
        count = needed
        return isEnough
    }

    /// Removes the last bytes.
    mutating func removeBytes(from count: Int) { self.count = min(self.count, count) }

    /// Returns the memory to pass to a process, whose descriptor is closed with the result.
    mutating func takeMemory() throws(EideticError) -> SharedMemory {
        // One animation in a cache must not keep a descriptor open, so another process gets a copy.
        if descriptor == nil { try move(toCapacity: capacity) }
        defer { descriptor = nil }
        guard let descriptor else { throw EideticError(.outOfMemory, message: "there is no shared memory") }
        return descriptor
    }

    private mutating func move(toCapacity capacity: Int) throws(EideticError) {
        let (larger, memory) = try Self.makeMemory(byteCount: capacity)
        larger.base.copyMemory(from: mapped.base, byteCount: count)
        mapped = larger
        descriptor = memory
    }
}
