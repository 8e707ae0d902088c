/// Decodes a message of another process, which is not trusted: each length is checked before it is used.
///
/// - SeeAlso: ``WireWriter``, which describes the encoding.
@usableFromInline
package struct WireReader {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline var offset = 0

    /// The limits of one value, far above those of real messages.
    @usableFromInline
    package static let maximumTextLength = 65_536
    @usableFromInline
    package static let maximumListCount = 65_536

    @inlinable
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Decodes a message that consists of one value; throws if bytes follow it.
    @inlinable
    package static func decode<Value: WireValue>(
        _ type: Value.Type,
        from bytes: [UInt8]
    ) throws(WireError) -> Value {
        var reader = WireReader(bytes)
        let value = try Value(from: &reader)
        guard reader.offset == bytes.count else { throw .trailingBytes(offset: reader.offset) }
        return value
    }

    /// The number of bytes that are not yet read.
    @inlinable
    package var remainingCount: Int { bytes.count - offset }

    /// Reads an integer with its full width.
    @inlinable
    package mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(WireError) -> Value
    {
        Value(truncatingIfNeeded: try word(size: MemoryLayout<Value>.size))
    }

    /// Reads an integer of at most 8 bytes; not generic, because it would not be specialised in other modules.
    @inlinable
    mutating func word(size: Int) throws(WireError) -> UInt64 {
        guard remainingCount >= size else { throw .truncated(offset: offset) }
        var value: UInt64 = 0
        for index in (offset..<offset + size).reversed() { value = value << 8 | UInt64(bytes[index]) }
        offset += size
        return value
    }

    /// Reads a Boolean value: 0 or 1.
    @inlinable
    package mutating func boolean() throws(WireError) -> Bool {
        let value = try integer(UInt8.self)
        guard value <= 1 else { throw .unknownCase(type: "Bool", value: UInt64(value)) }
        return value == 1
    }

    /// Reads text of at most `limit` bytes.
    @inlinable
    package mutating func text(limit: Int = maximumTextLength) throws(WireError) -> String {
        let start = offset
        guard let text = String(validating: try part(limit: limit), as: UTF8.self) else {
            throw .invalidText(offset: start)
        }
        return text
    }

    /// Reads at most `limit` bytes.
    @inlinable
    package mutating func blob(limit: Int = maximumTextLength) throws(WireError) -> [UInt8] {
        Array(try part(limit: limit))
    }

    @inlinable
    mutating func part(limit: Int) throws(WireError) -> ArraySlice<UInt8> {
        let count = try length(limit: limit)
        guard remainingCount >= count else { throw .truncated(offset: offset) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// Reads whole nanoseconds.
    @inlinable
    package mutating func duration() throws(WireError) -> Duration { .nanoseconds(try integer(Int64.self)) }

    /// Reads a number of at most `limit` elements, each of which takes a byte or more.
    @inlinable
    package mutating func count(limit: Int) throws(WireError) -> Int {
        let count = try length(limit: limit)
        guard count <= remainingCount else { throw .truncated(offset: offset) }
        return count
    }

    @inlinable
    mutating func length(limit: Int) throws(WireError) -> Int {
        let start = offset
        let count = try integer(UInt32.self)
        guard count <= limit else { throw .limitExceeded(offset: start, value: UInt64(count), limit: limit) }
        return Int(count)
    }
}
