/// The records of a pax extended header: lines of the form `LENGTH NAME=VALUE`.
///
/// - SeeAlso: POSIX.1-2001, pax, "pax Extended Header".
struct PaxRecords: Equatable {
    /// The records in their order; values can be any bytes.
    var fields: [(name: String, value: [UInt8])] = []

    /// The encoded records.
    var bytes: [UInt8] {
        fields.flatMap { name, value in
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
            guard let equals = record.firstIndex(of: 0x3d) else { return nil }
            let name = String(decoding: record[record.startIndex..<equals], as: UTF8.self)
            fields.append((name, Array(record[(equals + 1)...])))
            remaining = remaining.dropFirst(length)
        }
    }

    /// The first value with this name.
    subscript(name: String) -> [UInt8]? { fields.first { $0.name == name }?.value }

    /// Returns the first value with this name as text.
    func text(named name: String) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }

    /// Appends a record whose value is text.
    mutating func append(name: String, value text: String) { fields.append((name, Array(text.utf8))) }

    static func == (left: PaxRecords, right: PaxRecords) -> Bool { left.bytes == right.bytes }
}
