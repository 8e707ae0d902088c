/// A reader of bits from the most significant one on; zeros beyond the end.
struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// A Boolean value indicating whether bits beyond the end were read or skipped.
    var isPastEnd: Bool { offset > 8 * bytes.count }

    /// Reads an unsigned number of at most 32 bits.
    mutating func readBits(_ count: Int) -> Int {
        (0..<count).reduce(0) { value, _ in
            defer { offset += 1 }
            return value << 1 | (bytes.uint8(at: offset >> 3) ?? 0) >> (7 - offset & 7) & 1
        }
    }

    mutating func skipBits(_ count: Int) { offset += count }
}
