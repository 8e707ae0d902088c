/// The records before a member of a tar archive: `LENGTH NAME=VALUE`, each with a newline at its end.
///
/// - SeeAlso: POSIX.1-2001, pax, "pax Extended Header".
struct TarRecords: Equatable {
    /// The records in their order; values may be any bytes.
    var fields: [(name: String, value: [UInt8])] = []

    /// The records as they stand in the archive.
    var bytes: [UInt8] {
        fields.flatMap { name, value in
            // The length counts its own digits.
            let rest = 1 + name.utf8.count + 1 + value.count + 1
            var length = rest + 1
            while rest + String(length).utf8.count != length { length = rest + String(length).utf8.count }
            return Array("\(length) \(name)=".utf8) + value + [0x0a]
        }
    }

    init() {}

    /// Reads records; `nil` where they are damaged.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let space = rest.firstIndex(of: 0x20),
                let length = Int(String(decoding: rest[rest.startIndex..<space], as: UTF8.self)),
                length > space - rest.startIndex + 1, length <= rest.count
            else { return nil }
            let record = rest[(space + 1)..<(rest.startIndex + length - 1)]
            guard let equals = record.firstIndex(of: 0x3d) else { return nil }
            let name = String(decoding: record[record.startIndex..<equals], as: UTF8.self)
            fields.append((name, Array(record[(equals + 1)...])))
            rest = rest.dropFirst(length)
        }
    }

    /// The first value with this name.
    subscript(name: String) -> [UInt8]? { fields.first { $0.name == name }?.value }

    /// The first value with this name, as text.
    func text(_ name: String) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }

    /// Adds a text.
    mutating func add(_ name: String, _ text: String) { fields.append((name, Array(text.utf8))) }

    static func == (left: TarRecords, right: TarRecords) -> Bool { left.bytes == right.bytes }
}
