/// A value that can be written into a message of another process, and read from it.
@usableFromInline
package protocol WireValue: Sendable {
    /// Appends the value to a message.
    func write(to writer: inout WireWriter)

    /// Reads a value; throws if the message has none at this place.
    init(from reader: inout WireReader) throws(WireError)
}

extension WireValue where Self: FixedWidthInteger {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(self) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.integer() }
}

extension UInt8: WireValue {}
extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int8: WireValue {}
extension Int32: WireValue {}
extension Int64: WireValue {}
extension Int: WireValue {}

extension WireValue where Self: RawRepresentable, RawValue: FixedWidthInteger & WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(rawValue) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) {
        let number = try RawValue(from: &reader)
        guard let value = Self(rawValue: number) else {
            throw .unknownCase(type: "\(Self.self)", value: UInt64(truncatingIfNeeded: number))
        }
        self = value
    }
}

extension Bool: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(self) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.boolean() }
}

extension Double: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(bitPattern) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self.init(bitPattern: try reader.integer()) }
}

extension String: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(self) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.text() }
}

extension Duration: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(self) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.duration() }
}

extension Timestamp: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(nanoseconds) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self.init(nanoseconds: try reader.integer()) }
}

extension ByteCount: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) { writer.append(bytes) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.integer(Int.self)) }
}

extension Optional: WireValue where Wrapped: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) {
        writer.append(self != nil)
        self?.write(to: &writer)
    }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) {
        self = try reader.boolean() ? try Wrapped(from: &reader) : nil
    }
}

extension Array: WireValue where Element: WireValue {
    @inlinable
    package func write(to writer: inout WireWriter) {
        // The same encoding, at once.
        if let bytes = self as? [UInt8] { return writer.append(bytes) }
        writer.append(UInt32(truncatingIfNeeded: count))
        for element in self { element.write(to: &writer) }
    }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) {
        if Element.self == UInt8.self, let bytes = try reader.blob() as? Self {
            self = bytes
            return
        }
        self.init()
        for _ in 0..<(try reader.count(limit: WireReader.maximumListCount)) { append(try Element(from: &reader)) }
    }
}

/// A set of cases, of which those that this version does not know are left out.
extension Set: WireValue where Element: WireValue & RawRepresentable, Element.RawValue == UInt8 {
    @inlinable
    package func write(to writer: inout WireWriter) { map(\.rawValue).sorted().write(to: &writer) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(try Layout<[UInt8]>.bytes(limit: 64).read(from: &reader).compactMap { Element(rawValue: $0) })
    }
}
