/// The way in which a value is written into messages and read from them, declared once for both.
///
/// The layout of a record has the fields in the order of its initialiser:
///
/// ```swift
/// extension Greeting: WireRecord {
///     static let layout = Layout(Self.init, \.version, \.isVisible)
/// }
/// ```
///
/// A field that needs another layout than that of its type is a ``Field``, and then all are. ``Case`` describes the
/// cases of an enumeration.
///
/// All is inlinable: layouts of other modules are specialised there, and are five times as fast.
@usableFromInline
package struct Layout<Value>: Sendable {
    @usableFromInline let writeValue: @Sendable (Value, inout WireWriter) -> Void
    @usableFromInline let readValue: @Sendable (inout WireReader) throws(WireError) -> Value

    /// Creates a layout from the two directions.
    @inlinable
    package init(
        write: @escaping @Sendable (Value, inout WireWriter) -> Void,
        read: @escaping @Sendable (inout WireReader) throws(WireError) -> Value
    ) {
        writeValue = write
        readValue = read
    }

    /// Creates the layout of a record from its initialiser and its properties, in the order of the initialiser.
    @inlinable
    package init<each Property: WireValue>(
        _ make: @escaping @Sendable (repeat each Property) -> Value,
        _ properties: repeat @escaping @Sendable (Value) -> each Property
    ) {
        self.init(make, repeat Field(each properties))
    }

    /// Creates the layout of a record from its initialiser and its fields, in the order of the initialiser.
    @inlinable
    package init<each Property>(
        _ make: @escaping @Sendable (repeat each Property) -> Value,
        _ fields: repeat Field<Value, each Property>
    ) {
        self.init(
            write: Self.writer(of: repeat each fields),
            read: { reader throws(WireError) in make(repeat try (each fields).read(&reader)) }
        )
    }

    /// Returns a function that writes the fields, from a list: for an element of a pack the program would look up the
    /// type each time, which took longer than the writing.
    @inlinable
    static func writer<each Property>(
        of fields: repeat Field<Value, each Property>
    ) -> @Sendable (Value, inout WireWriter) -> Void {
        var writers: [@Sendable (Value, inout WireWriter) -> Void] = []
        repeat writers.append((each fields).write)
        return { [writers] value, writer in for write in writers { write(value, &writer) } }
    }

    /// Creates the layout of a record that is made with defaults, and whose properties are then set.
    @inlinable
    package init<each Property: WireValue>(
        _ make: @escaping @Sendable () -> Value,
        setting properties: repeat any (WritableKeyPath<Value, each Property> & Sendable)
    ) {
        self.init(
            write: { value, writer in repeat value[keyPath: each properties].write(to: &writer) },
            read: { reader throws(WireError) in
                var value = make()
                repeat try Self.set(each properties, of: &value, from: &reader)
                return value
            }
        )
    }

    @inlinable
    static func set<Property: WireValue>(
        _ property: WritableKeyPath<Value, Property>,
        of value: inout Value,
        from reader: inout WireReader
    ) throws(WireError) {
        value[keyPath: property] = try Property(from: &reader)
    }

    /// Creates the layout of a record whose initialiser returns `nil` for values that it cannot have.
    @inlinable
    package init<each Property>(
        validating make: @escaping @Sendable (repeat each Property) -> Value?,
        _ fields: repeat Field<Value, each Property>
    ) {
        self.init(
            write: Self.writer(of: repeat each fields),
            read: { reader throws(WireError) in
                guard let value = make(repeat try (each fields).read(&reader)) else {
                    throw .invalidValue(type: "\(Value.self)")
                }
                return value
            }
        )
    }

    /// Creates the layout of an enumeration from its cases, of which each is described once.
    ///
    /// Writing a case that is not described traps.
    @inlinable
    package init(_ cases: Case<Value>...) {
        precondition(Set(cases.map(\.tag)).count == cases.count, "two cases of \(Value.self) have the same number")
        self.init(
            write: { value, writer in
                let isWritten = cases.contains { $0.write(value, to: &writer) }
                precondition(isWritten, "a case of \(Value.self) is missing in its layout")
            },
            read: { reader throws(WireError) in
                let tag = try reader.integer(UInt8.self)
                guard let found = cases.first(where: { $0.tag == tag }) else {
                    throw .unknownCase(type: "\(Value.self)", value: UInt64(tag))
                }
                return try found.read(from: &reader)
            }
        )
    }

    /// Appends a value to a message.
    @inlinable
    package func write(_ value: Value, to writer: inout WireWriter) { writeValue(value, &writer) }

    /// Reads a value; throws if the message has none at this place.
    @inlinable
    package func read(from reader: inout WireReader) throws(WireError) -> Value { try readValue(&reader) }
}

/// A value whose encoding for other processes is a layout.
@usableFromInline
package protocol WireRecord: WireValue {
    /// The fields, or the cases.
    static var layout: Layout<Self> { get }
}

extension WireRecord {
    @inlinable
    package func write(to writer: inout WireWriter) { Self.layout.write(self, to: &writer) }

    @inlinable
    package init(from reader: inout WireReader) throws(WireError) { self = try Self.layout.read(from: &reader) }
}

/// A property of a record, with a layout of its own.
@usableFromInline
package struct Field<Record, Value>: Sendable {
    @usableFromInline let write: @Sendable (Record, inout WireWriter) -> Void
    @usableFromInline let read: @Sendable (inout WireReader) throws(WireError) -> Value

    /// Creates a field from the property, such as `\.name`, and its layout, such as `.text(limit: 255)`.
    @inlinable
    package init(_ property: @escaping @Sendable (Record) -> Value, _ layout: Layout<Value>) {
        write = { layout.write(property($0), to: &$1) }
        read = layout.readValue
    }

    /// Creates a field with the layout of its type.
    @inlinable
    package init(_ property: @escaping @Sendable (Record) -> Value) where Value: WireValue {
        self.init(property, .value)
    }
}

/// A case of an enumeration: its number in messages, and the layout of its associated values.
///
/// ```swift
/// Case(3, rename, .text(limit: 255), .value) { if case .rename(let name, let id) = $0 { (name, id) } else { nil } }
/// ```
@usableFromInline
package struct Case<Value>: Sendable {
    @usableFromInline let tag: UInt8
    @usableFromInline let writeValues: @Sendable (Value, inout WireWriter) -> Bool
    @usableFromInline let readValues: @Sendable (inout WireReader) throws(WireError) -> Value

    /// Creates a case with associated values.
    ///
    /// - Parameters:
    ///   - tag: The number, which no other case has.
    ///   - make: The case, as the function that makes a value.
    ///   - layouts: The layouts of the associated values, in their order.
    ///   - values: Returns the associated values of this case, and `nil` for any other one.
    @inlinable
    package init<each Associated>(
        _ tag: UInt8,
        _ make: @escaping @Sendable (repeat each Associated) -> Value,
        _ layouts: repeat Layout<each Associated>,
        values: @escaping @Sendable (Value) -> (repeat each Associated)?
    ) {
        self.tag = tag
        writeValues = { value, writer in
            guard let values = values(value) else { return false }
            writer.append(tag)
            repeat (each layouts).write(each values, to: &writer)
            return true
        }
        readValues = { reader throws(WireError) in make(repeat try (each layouts).read(from: &reader)) }
    }

    @inlinable
    package init<each Associated: WireValue>(
        _ tag: UInt8,
        _ make: @escaping @Sendable (repeat each Associated) -> Value,
        values: @escaping @Sendable (Value) -> (repeat each Associated)?
    ) {
        self.init(tag, make, repeat Layout<each Associated>.value, values: values)
    }

    /// Creates a case without associated values.
    @inlinable
    package init(_ tag: UInt8, _ value: Value) where Value: Equatable & Sendable {
        self.tag = tag
        writeValues = { candidate, writer in
            guard candidate == value else { return false }
            writer.append(tag)
            return true
        }
        readValues = { _ in value }
    }

    @inlinable
    func write(_ value: Value, to writer: inout WireWriter) -> Bool { writeValues(value, &writer) }

    @inlinable
    func read(from reader: inout WireReader) throws(WireError) -> Value { try readValues(&reader) }
}
