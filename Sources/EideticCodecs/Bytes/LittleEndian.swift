/// Numbers in a file whose lowest byte comes first; `nil` where the file ends before.
struct LittleEndian {
    let bytes: UnsafeRawBufferPointer

    /// The byte at a place.
    func byte(_ offset: Int) -> Int? {
        bytes.indices.contains(offset) ? Int(bytes[offset]) : nil
    }

    /// The number of 16 bits at a place.
    func short(_ offset: Int) -> Int? { number(UInt16.self, offset) }

    /// The number of 32 bits at a place.
    func long(_ offset: Int) -> Int? { number(UInt32.self, offset) }

    /// The signed number of 32 bits at a place.
    func signedLong(_ offset: Int) -> Int? { number(Int32.self, offset) }

    private func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, _ offset: Int) -> Int? {
        guard offset >= 0, bytes.count - offset >= MemoryLayout<Number>.size else { return nil }
        return Int(Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type)))
    }
}
