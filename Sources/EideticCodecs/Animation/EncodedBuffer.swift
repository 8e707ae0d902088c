import EideticCore

/// Encoded bytes that grow at their end, at an address that stays the same between two appends.
final class EncodedBuffer {
    private var buffer: ScratchBuffer
    private(set) var count = 0

    /// Creates the buffer with room for `capacity` bytes.
    init(capacity: Int) throws(EideticError) { buffer = try ScratchBuffer(byteCount: max(1, capacity)) }

    /// The bytes so far.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]) }

    /// The memory that the buffer occupies.
    var capacity: Int { buffer.bytes.count }

    /// Appends bytes; with `isLast` there is no room for more.
    func append(_ source: [UInt8], isLast: Bool) throws(EideticError) {
        let needed = count + source.count
        if needed > capacity || (isLast && needed < capacity - capacity / 8) {
            let larger = try ScratchBuffer(byteCount: max(1, isLast ? needed : max(needed, 2 * capacity)))
            larger.bytes.copyMemory(from: bytes)
            buffer = larger
        }
        guard !source.isEmpty else { return }
        UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[count..<needed]).copyBytes(from: source)
        count = needed
    }
}
