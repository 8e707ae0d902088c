/// A TIFF file of one page whose tags can have several values, in one or more strips.
struct TIFFPage {
    /// The types of a tag's values.
    enum Kind: Int {
        case byte = 1
        case short = 3
        case long = 4
        case rational = 5
        case undefined = 7

        var byteCount: Int { [1: 1, 3: 2, 4: 4, 5: 8, 7: 1][rawValue] ?? 1 }
    }

    private var tags: [Int: (kind: Kind, count: Int, bytes: [UInt8])] = [:]
    private var offsets: [(tag: Int, position: Int)] = []
    let strips: [[UInt8]]

    init(
        width: Int,
        height: Int,
        bits: [Int],
        photometric: Int,
        compression: Int = 1,
        rowsPerStrip: Int? = nil,
        strips: [[UInt8]]
    ) {
        self.strips = strips
        set(256, as: .long, to: [width])
        set(257, as: .long, to: [height])
        set(258, as: .short, to: bits)
        set(259, as: .short, to: [compression])
        set(262, as: .short, to: [photometric])
        set(277, as: .short, to: [bits.count])
        set(278, as: .long, to: [rowsPerStrip ?? height])
        set(279, as: .long, to: strips.map(\.count))
    }

    /// Sets the values of a tag.
    mutating func set(_ tag: Int, as kind: Kind, to values: [Int]) {
        tags[tag] = (kind, values.count, values.flatMap { Self.littleEndian($0, byteCount: min(kind.byteCount, 4)) })
        if kind == .rational { tags[tag]?.count = values.count / 2 }
    }

    /// Sets a tag of type `long` to positions within the strips, which follow each other.
    mutating func set(_ tag: Int, positions: [Int]) {
        set(tag, as: .long, to: positions)
        offsets += positions.map { (tag, $0) }
    }

    /// The offset of the strips in the file.
    private static let stripStart = 8

    /// The complete file: header, strips, values, directory.
    var finished: [UInt8] {
        var page = self
        var data: [UInt8] = []
        let starts = strips.map { strip in
            defer { data += strip }
            return Self.stripStart + data.count
        }
        if page.tags[273] == nil { page.set(273, as: .long, to: starts) }
        for tag in Set(offsets.map(\.tag)) {
            page.set(tag, as: .long, to: offsets.filter { $0.tag == tag }.map { $0.position + Self.stripStart })
        }
        if data.count % 2 == 1 { data.append(0) }
        var entries: [UInt8] = []
        for (tag, value) in page.tags.sorted(by: { $0.key < $1.key }) {
            entries += Self.littleEndian(tag, byteCount: 2) + Self.littleEndian(value.kind.rawValue, byteCount: 2)
            entries += Self.littleEndian(value.count, byteCount: 4)
            if value.bytes.count > 4 {
                entries += Self.littleEndian(Self.stripStart + data.count, byteCount: 4)
                data += value.bytes + (value.bytes.count % 2 == 1 ? [0] : [])
            } else {
                entries += value.bytes + Array(repeating: 0, count: 4 - value.bytes.count)
            }
        }
        return Array("II".utf8) + Self.littleEndian(42, byteCount: 2)
            + Self.littleEndian(Self.stripStart + data.count, byteCount: 4) + data
            + Self.littleEndian(page.tags.count, byteCount: 2) + entries + [0, 0, 0, 0]
    }

    static func littleEndian(_ value: Int, byteCount count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns samples of whole bytes, little-endian.
    static func samples(_ values: [Int], bits: Int) -> [UInt8] {
        values.flatMap { littleEndian($0, byteCount: bits / 8) }
    }
}
