/// A header of a tar archive: 512 bytes before each member.
///
/// - SeeAlso: POSIX.1-2001, pax, "ustar Interchange Format".
struct TarHeader: Equatable {
    /// The length of a header, and the unit in which an archive grows.
    static let length = 512

    /// What follows the header.
    enum Kind: UInt8 {
        case file = 0x30
        /// Records on the member that comes next.
        case extendedHeader = 0x78
    }

    /// The member's name, at most 100 bytes.
    var name: String
    /// The bytes that follow; then zeros up to a multiple of 512.
    var size: Int
    /// Seconds since 1970.
    var modificationTime: Int = 0
    /// `nil` for what is neither a file nor records, such as a directory.
    var kind: Kind?

    /// How many zeros follow the member's bytes.
    var padding: Int { (Self.length - size % Self.length) % Self.length }

    /// The header as it stands in the archive.
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.length)
        func write(_ text: String, at offset: Int, limit: Int) {
            for (index, byte) in text.utf8.prefix(limit).enumerated() { bytes[offset + index] = byte }
        }
        write(name, at: 0, limit: 100)
        write("0000644\0", at: 100, limit: 8)
        write("0000000\0", at: 108, limit: 8)
        write("0000000\0", at: 116, limit: 8)
        write(Self.octal(size), at: 124, limit: 12)
        write(Self.octal(max(0, modificationTime)), at: 136, limit: 12)
        bytes[156] = kind?.rawValue ?? 0
        write("ustar\u{0}00", at: 257, limit: 8)
        write(Self.octal(Self.checksum(of: bytes), digits: 6) + " ", at: 148, limit: 8)
        return bytes
    }

    /// Creates a header.
    init(name: String, size: Int, modificationTime: Int = 0, kind: Kind) {
        self.name = name
        self.size = size
        self.modificationTime = modificationTime
        self.kind = kind
    }

    /// Reads a header; `nil` where the bytes are none, or their sum is wrong.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, Self.parseOctal(bytes[148..<156]) == Self.checksum(of: bytes),
            let size = Self.parseOctal(bytes[124..<136]), let modified = Self.parseOctal(bytes[136..<148])
        else { return nil }
        name = String(decoding: bytes[0..<100].prefix { $0 != 0 }, as: UTF8.self)
        self.size = size
        self.modificationTime = modified
        kind = bytes[156] == 0 ? .file : Kind(rawValue: bytes[156])
    }

    /// The sum of all bytes, where those of the sum itself count as spaces.
    private static func checksum(of bytes: [UInt8]) -> Int {
        bytes.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }

    private static func octal(_ number: Int, digits: Int = 11) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text + "\0"
    }

    private static func parseOctal(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        return digits.isEmpty ? nil : Int(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
