/// A header block of a tar archive: the 512 bytes before each member.
///
/// - SeeAlso: POSIX.1-2001, pax, "ustar Interchange Format".
struct TarHeader: Equatable {
    /// The size of a header, and of each block of an archive, in bytes.
    static let length = 512

    /// The type of a member.
    enum Kind: UInt8 {
        case file = 0x30
        /// A pax extended header for the next member.
        case extendedHeader = 0x78
    }

    /// The member's name, at most 100 bytes.
    var name: String
    /// The size of the member in bytes, without padding.
    var size: Int
    /// The time of the last modification, in seconds since 1970.
    var modificationTime: Int = 0
    /// The type of the member; `nil` for types that are neither a file nor an extended header, such as a directory.
    var kind: Kind?

    /// The number of zero bytes after the member, up to a multiple of the block size.
    var padding: Int { (Self.length - size % Self.length) % Self.length }

    /// The encoded header.
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

    /// Decodes a header; returns `nil` if the bytes are not a header, or their checksum is wrong.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, Self.parseOctal(bytes[148..<156]) == Self.checksum(of: bytes),
            let size = Self.parseOctal(bytes[124..<136]), let modificationTime = Self.parseOctal(bytes[136..<148])
        else { return nil }
        name = String(decoding: bytes[0..<100].prefix { $0 != 0 }, as: UTF8.self)
        self.size = size
        self.modificationTime = modificationTime
        kind = bytes[156] == 0 ? .file : Kind(rawValue: bytes[156])
    }

    /// Returns the sum of all bytes, with the checksum field counted as spaces.
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
