import EideticCore

/// The fields of a record by their numbers; those that this version does not know are left out.
struct RecordFields {
    private var values: [UInt8: [UInt8]] = [:]

    /// Reads all fields up to the end.
    init(from reader: inout WireReader) throws(WireError) {
        while reader.remainingCount > 0 {
            let number = try reader.integer(UInt8.self)
            values[number] = try reader.blob(limit: RuntimeDirectory.recordLimit)
        }
    }

    /// Removes a field and reads it by `body`; returns the default if the record does not have it.
    ///
    /// Bytes after the value are those of a later version.
    mutating func take<Value>(
        _ number: UInt8,
        or defaultValue: Value,
        by body: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value {
        guard let bytes = values.removeValue(forKey: number) else { return defaultValue }
        var reader = WireReader(bytes)
        return try body(&reader)
    }
}

extension WireWriter {
    /// Appends a field: its number, its length, and the value by `body`.
    mutating func append(field number: UInt8, by body: (inout WireWriter) -> Void) {
        var value = WireWriter()
        body(&value)
        append(number)
        append(value.bytes)
    }
}
