/// Integers at places that a file names: `nil` where they do not lie within the bytes.
extension UnsafeRawBufferPointer {
    /// The bytes from `offset` on, `count` of them.
    func slice(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
    }

    /// One byte.
    func uint8(at offset: Int) -> Int? { offset >= 0 && offset < count ? Int(self[offset]) : nil }

    /// Two bytes, the high one first.
    func bigEndian16(at offset: Int) -> Int? { load(at: offset, as: UInt16.self).map { Int(UInt16(bigEndian: $0)) } }

    /// Four bytes, the high one first.
    func bigEndian32(at offset: Int) -> Int? { load(at: offset, as: UInt32.self).map { Int(UInt32(bigEndian: $0)) } }

    /// Two bytes, the low one first.
    func littleEndian16(at offset: Int) -> Int? {
        load(at: offset, as: UInt16.self).map { Int(UInt16(littleEndian: $0)) }
    }

    /// Three bytes, the low one first.
    func littleEndian24(at offset: Int) -> Int? {
        guard let low = littleEndian16(at: offset), let high = uint8(at: offset + 2) else { return nil }
        return high << 16 | low
    }

    /// Four bytes, the low one first.
    func littleEndian32(at offset: Int) -> Int? {
        load(at: offset, as: UInt32.self).map { Int(UInt32(littleEndian: $0)) }
    }

    /// Whether the ASCII characters of `text` stand at `offset`.
    func contains(_ text: StaticString, at offset: Int = 0) -> Bool {
        guard let part = slice(at: offset, count: text.utf8CodeUnitCount) else { return false }
        return text.withUTF8Buffer { part.elementsEqual($0) }
    }

    private func load<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value? {
        slice(at: offset, count: MemoryLayout<Value>.size)?.loadUnaligned(as: Value.self)
    }
}
