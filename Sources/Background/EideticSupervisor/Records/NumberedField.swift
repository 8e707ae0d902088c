import EideticCore

/// A property of a record, with a number that never changes: supervisors of different versions read each other's
/// records.
struct NumberedField<Record>: Sendable {
    fileprivate let number: UInt8
    private let writeValue: @Sendable (Record, inout WireWriter) -> Bool
    private let readValue: @Sendable (inout Record, inout WireReader) throws(WireError) -> Void

    init<Value>(_ number: UInt8, _ path: any WritableKeyPath<Record, Value> & Sendable, as layout: Layout<Value>) {
        self.number = number
        writeValue = { record, writer in
            layout.write(record[keyPath: path], to: &writer)
            return true
        }
        readValue = { record, reader throws(WireError) in record[keyPath: path] = try layout.read(from: &reader) }
    }

    /// Creates a field that is left out for `nil`.
    init<Value>(
        _ number: UInt8,
        optional path: any WritableKeyPath<Record, Value?> & Sendable,
        as layout: Layout<Value>
    ) {
        self.number = number
        writeValue = { record, writer in
            guard let value = record[keyPath: path] else { return false }
            layout.write(value, to: &writer)
            return true
        }
        readValue = { record, reader throws(WireError) in record[keyPath: path] = try layout.read(from: &reader) }
    }

    init<Value: WireValue>(_ number: UInt8, _ path: any WritableKeyPath<Record, Value> & Sendable) {
        self.init(number, path, as: .value)
    }

    init<Value: WireValue>(_ number: UInt8, optional path: any WritableKeyPath<Record, Value?> & Sendable) {
        self.init(number, optional: path, as: .value)
    }

    /// Appends the number, the length and the value.
    fileprivate func write(_ record: Record, to writer: inout WireWriter) {
        var value = WireWriter()
        guard writeValue(record, &value) else { return }
        writer.append(number)
        writer.append(value.bytes)
    }

    /// Reads the value; bytes behind it are those of a later version.
    fileprivate func read(_ bytes: [UInt8], into record: inout Record) throws(WireError) {
        var reader = WireReader(bytes)
        try readValue(&record, &reader)
    }
}

extension Layout {
    /// Creates the layout of a record that extends to the end of the message, or of the field that it is in.
    ///
    /// A field that the message lacks has the value that it has in `empty`; one that this version does not know is left
    /// out.
    ///
    /// - Precondition: No two fields have the same number.
    init(from empty: @escaping @Sendable () -> Value, _ fields: NumberedField<Value>...) {
        precondition(Set(fields.map(\.number)).count == fields.count, "two fields of \(Value.self) have one number")
        self.init(
            write: { record, writer in
                for field in fields { field.write(record, to: &writer) }
            },
            read: { reader throws(WireError) in
                var record = empty()
                while reader.remainingCount > 0 {
                    let number = try reader.integer(UInt8.self)
                    let bytes = try reader.blob(limit: RuntimeDirectory.recordLimit)
                    try fields.first { $0.number == number }?.read(bytes, into: &record)
                }
                return record
            }
        )
    }
}
