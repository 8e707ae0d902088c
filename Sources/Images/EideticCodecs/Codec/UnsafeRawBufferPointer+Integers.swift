/// Bounds-checked reads of integers; the result is `nil` if any byte lies outside the buffer.
extension UnsafeRawBufferPointer {
    /// Returns `count` bytes from `offset` on.
    func slice(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
    }

    /// Returns the byte at `offset`.
    func uint8(at offset: Int) -> Int? { offset >= 0 && offset < count ? Int(self[offset]) : nil }

    /// Returns the big-endian 16-bit integer at `offset`.
    func bigEndian16(at offset: Int) -> Int? { load(at: offset, as: UInt16.self).map { Int(UInt16(bigEndian: $0)) } }

    /// Returns the big-endian 32-bit integer at `offset`.
    func bigEndian32(at offset: Int) -> Int? { load(at: offset, as: UInt32.self).map { Int(UInt32(bigEndian: $0)) } }

    /// Returns the little-endian 16-bit integer at `offset`.
    func littleEndian16(at offset: Int) -> Int? {
        load(at: offset, as: UInt16.self).map { Int(UInt16(littleEndian: $0)) }
    }

    /// Returns the little-endian 24-bit integer at `offset`.
    func littleEndian24(at offset: Int) -> Int? {
        guard let low = littleEndian16(at: offset), let high = uint8(at: offset + 2) else { return nil }
        return high << 16 | low
    }

    /// Returns the little-endian 32-bit integer at `offset`.
    func littleEndian32(at offset: Int) -> Int? {
        load(at: offset, as: UInt32.self).map { Int(UInt32(littleEndian: $0)) }
    }

    /// Returns `true` if the ASCII characters of `text` are at `offset`; otherwise, `false`.
    func contains(_ text: StaticString, at offset: Int = 0) -> Bool {
        guard let part = slice(at: offset, count: text.utf8CodeUnitCount) else { return false }
        return text.withUTF8Buffer { part.elementsEqual($0) }
    }

    private func load<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value? {
        slice(at: offset, count: MemoryLayout<Value>.size)?.loadUnaligned(as: Value.self)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the same part of `target` as this one is of the bytes at `source`.
    func moved(from source: UnsafeRawPointer, to target: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        guard let baseAddress else { return self }
        return UnsafeRawBufferPointer(start: target + (baseAddress - source), count: count)
    }
}
