import EideticCore

/// Encoded bytes that grow at their end, at an address that stays the same between two appends.
final class EncodedBuffer {
    /// The memory of this process; `nil` if the bytes lie in memory that another one fills.
    private var buffer: ScratchBuffer?
    /// The memory before it grew, which its readers use until they have parsed the new one.
    private var replacedBuffer: ScratchBuffer?
    private var memory: UnsafeRawBufferPointer
    private(set) var count = 0

    /// Creates the buffer with room for `capacity` bytes.
    init(capacity: Int) throws(EideticError) {
        let buffer = try ScratchBuffer(byteCount: max(1, capacity))
        memory = UnsafeRawBufferPointer(buffer.bytes)
        self.buffer = consume buffer
    }

    /// Creates the buffer in memory that another process fills, and that outlives the buffer.
    init(sharing memory: UnsafeRawBufferPointer) { self.memory = memory }

    /// The bytes so far.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    var capacity: Int { memory.count }

    /// Appends bytes; with `isLast` there is no room for more.
    func append(_ source: [UInt8], isLast: Bool) throws(EideticError) {
        let needed = count + source.count
        if needed > capacity || (isLast && needed < capacity - capacity / 8) {
            try replace(capacity: max(1, isLast ? needed : max(needed, 2 * capacity)))
        }
        guard !source.isEmpty else { return }
        let target = UnsafeMutableRawBufferPointer(mutating: memory)
        UnsafeMutableRawBufferPointer(rebasing: target[count..<needed]).copyBytes(from: source)
        count = needed
    }

    /// Counts the bytes up to `count` as arrived, which lie in the shared memory.
    func extend(to count: Int) throws(EideticError) {
        guard (self.count...max(self.count, capacity)).contains(count) else {
            throw EideticError(.decoderFailed, message: "\(count) encoded bytes exceed the shared memory")
        }
        self.count = count
    }

    /// Releases the memory before the last growth, which nothing refers to any more.
    func releaseReplaced() { replacedBuffer = nil }

    private func replace(capacity: Int) throws(EideticError) {
        let larger = try ScratchBuffer(byteCount: capacity)
        larger.bytes.copyMemory(from: bytes)
        memory = UnsafeRawBufferPointer(larger.bytes)
        // If the bytes of the last growth could not be parsed, readers still refer to the memory before that.
        if replacedBuffer == nil { swap(&buffer, &replacedBuffer) }
        buffer = consume larger
    }
}
