/// The records of a pax extended header: lines of the form `LENGTH NAME=VALUE`.
///
/// - SeeAlso: POSIX.1-2001, pax, "pax Extended Header".
struct PaxRecords: Equatable {
    /// The records in their order; values can be any bytes.
    var fields: [(name: String, value: [UInt8])] = []

    /// The name of records that every program ignores.
    private static let comment = "comment"

    /// The encoded records, as comments, because tar warns of names that it does not know.
    var bytes: [UInt8] {
        fields.flatMap { name, value in
            let name = "\(Self.comment)=\(name)"
            // The length includes its own digits.
            let contentLength = 1 + name.utf8.count + 1 + value.count + 1
            var length = contentLength + 1
            while contentLength + String(length).utf8.count != length {
                length = contentLength + String(length).utf8.count
            }
            return Array("\(length) \(name)=".utf8) + value + [0x0a]
        }
    }

    init() {}

    /// Decodes records; returns `nil` if they are damaged.
    init?(_ bytes: [UInt8]) {
        var remaining = bytes[...]
        while !remaining.isEmpty {
            guard let space = remaining.firstIndex(of: 0x20),
                let length = Int(String(decoding: remaining[remaining.startIndex..<space], as: UTF8.self)),
                length > space - remaining.startIndex + 1, length <= remaining.count
            else { return nil }
            let record = remaining[(space + 1)..<(remaining.startIndex + length - 1)]
            guard let field = Self.field(in: record) else { return nil }
            fields.append(field)
            remaining = remaining.dropFirst(length)
        }
    }

    /// Returns the name and the value of a record, or of the record within a comment.
    private static func field(in record: ArraySlice<UInt8>) -> (name: String, value: [UInt8])? {
        guard let equals = record.firstIndex(of: 0x3d) else { return nil }
        let name = String(decoding: record[record.startIndex..<equals], as: UTF8.self)
        let value = record[(equals + 1)...]
        return name == comment ? field(in: value) ?? (name, Array(value)) : (name, Array(value))
    }

    /// The first value with this name.
    subscript(name: String) -> [UInt8]? { fields.first { $0.name == name }?.value }

    /// Returns the first value with this name as text.
    func text(named name: String) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }

    /// Appends a record whose value is text.
    mutating func append(name: String, value text: String) { fields.append((name, Array(text.utf8))) }

    static func == (left: PaxRecords, right: PaxRecords) -> Bool { left.bytes == right.bytes }
}
