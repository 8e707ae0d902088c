/// Small version 2 profiles: three primaries or grey, and one gamma for all channels.
enum TestProfile {
    /// Returns a profile with one gamma, or with the parameters of a curve instead.
    static func rgb(
        swapsRedAndGreen: Bool,
        gamma: Double = 2.2,
        parameters: [Double] = [],
        name: String = "",
        codePoints: [UInt8] = []
    ) -> [UInt8] {
        var primaries = sRGB
        if swapsRedAndGreen { primaries.swapAt(0, 1) }
        let curve = parameters.isEmpty ? curve(gamma: gamma) : curve(parameters: parameters)
        var tags = matrixTags(primaries, [curve, curve, curve])
        if !name.isEmpty { tags.append(("desc", description(name))) }
        if !codePoints.isEmpty { tags.append(("cicp", Array("cicp".utf8) + [0, 0, 0, 0] + codePoints)) }
        return makeProfile(tags: tags)
    }

    /// The CIE XYZ of red, green and blue of sRGB, adapted to D50.
    static let sRGB = [[0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7141]]

    /// Returns a profile of such primaries, and a curve for each of them.
    static func matrix(_ primaries: [[Double]], curves: [[UInt8]]) -> [UInt8] {
        makeProfile(tags: matrixTags(primaries, curves))
    }

    /// A profile of sRGB with a table, which precedes its matrix, from white without red, green and blue to black.
    static var table: [UInt8] {
        let curve = curve(gamma: 2.2)
        let tags = matrixTags(sRGB, [curve, curve, curve]) + [("A2B0", table(black: 0, inputCount: 3))]
        return makeProfile(tags: tags, to: "Lab ")
    }

    private static func matrixTags(_ primaries: [[Double]], _ curves: [[UInt8]]) -> [(String, [UInt8])] {
        [
            ("rXYZ", xyzTag(primaries[0])), ("gXYZ", xyzTag(primaries[1])), ("bXYZ", xyzTag(primaries[2])),
            ("wtpt", xyzTag([0.9642, 1, 0.8249])), ("rTRC", curves[0]), ("gTRC", curves[1]), ("bTRC", curves[2]),
        ]
    }

    static func grey(gamma: Double, to connection: String = "XYZ ") -> [UInt8] {
        let tags = [("wtpt", xyzTag([0.9642, 1, 0.8249])), ("kTRC", curve(gamma: gamma))]
        return makeProfile(tags: tags, from: "GRAY", to: connection)
    }

    static func curve(parameters: [Double]) -> [UInt8] {
        let kind = [1, 3, 4, 5, 7].firstIndex(of: parameters.count) ?? 0
        return Array("para".utf8) + [0, 0, 0, 0, 0, UInt8(kind), 0, 0]
            + parameters.flatMap { bigEndian(Int($0 * 65_536), byteCount: 4) }
    }

    static func curve(gamma: Double) -> [UInt8] {
        Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1] + bigEndian(Int(gamma * 256), byteCount: 2)
    }

    static func curve(table: [Double]) -> [UInt8] {
        Array("curv".utf8) + [0, 0, 0, 0] + bigEndian(table.count, byteCount: 4)
            + table.flatMap { bigEndian(Int(($0 * 65_535).rounded()), byteCount: 2) }
    }

    /// Returns a description as version 2 of the format has it: in ASCII, without the two other forms.
    private static func description(_ name: String) -> [UInt8] {
        let text = Array(name.utf8) + [0]
        return Array("desc".utf8) + [0, 0, 0, 0] + bigEndian(text.count, byteCount: 4) + text
            + Array(repeating: 0, count: 78)
    }

    /// A CMYK profile with a look-up table of two steps per ink: white without ink, black with any.
    static var inks: [UInt8] { inks([("A2B0", 0)]) }

    /// Returns a CMYK profile with such tables, which end at a black of an L* of these parts of 255.
    static func inks(_ tables: [(name: String, black: UInt8)]) -> [UInt8] {
        let tags = tables.map { ($0.name, table(black: $0.black)) } + [white]
        return makeProfile(tags: tags, from: "CMYK", to: "Lab ", class: "prtr")
    }

    private static var white: (String, [UInt8]) { ("wtpt", xyzTag([0.9642, 1, 0.8249])) }

    /// Returns a table of 8 bits from inks to L*a*b*; `black` is its L* for any ink.
    private static func table(black: UInt8, inputCount: Int = 4) -> [UInt8] {
        let ramp = (0...255).map { UInt8($0) }
        let colours = (0..<1 << inputCount).flatMap { [$0 == 0 ? 255 : black, 128, 128] as [UInt8] }
        let matrix = (0..<9).flatMap { bigEndian($0 % 4 == 0 ? 65_536 : 0, byteCount: 4) }
        let inputs = (0..<inputCount).flatMap { _ in ramp }, outputs = (0..<3).flatMap { _ in ramp }
        return Array("mft1".utf8) + [0, 0, 0, 0, UInt8(inputCount), 3, 2, 0] + matrix + inputs + colours + outputs
    }

    private static func makeProfile(
        tags: [(String, [UInt8])],
        from space: String = "RGB ",
        to connection: String = "XYZ ",
        class kind: String = "mntr"
    ) -> [UInt8] {
        var table = bigEndian(tags.count, byteCount: 4), data: [UInt8] = []
        let start = 128 + 4 + 12 * tags.count
        for (name, content) in tags {
            table +=
                Array(name.utf8) + bigEndian(start + data.count, byteCount: 4) + bigEndian(content.count, byteCount: 4)
            data += content + Array(repeating: 0, count: -content.count & 3)
        }
        var head = [UInt8](repeating: 0, count: 128)
        for (offset, text) in [(12, kind), (16, space), (20, connection), (36, "acsp")] {
            head.replaceSubrange(offset..<offset + 4, with: Array(text.utf8))
        }
        head.replaceSubrange(0..<4, with: bigEndian(start + data.count, byteCount: 4))
        head.replaceSubrange(8..<12, with: [2, 0x10, 0, 0])
        head.replaceSubrange(68..<80, with: Array(xyzTag([0.9642, 1, 0.8249]).dropFirst(8)))
        return head + table + data
    }

    private static func xyzTag(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap { bigEndian(Int($0 * 65_536), byteCount: 4) }
    }

    private static func bigEndian(_ value: Int, byteCount count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
