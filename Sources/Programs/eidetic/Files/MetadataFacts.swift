import EideticCodecs
import EideticCLI

/// The metadata of a file in words.
struct MetadataFacts {
    /// The usual tags of EXIF with their names in output.
    static let tags: [(number: Int, name: String)] = [
        (0x010e, "description"), (0x010f, "make"), (0x0110, "model"), (0xa434, "lens"), (0x0131, "software"),
        (0x0132, "date"), (0x9003, "taken"), (0x829a, "exposure"), (0x829d, "aperture"), (0x8827, "iso"),
        (0x920a, "focal_length"), (0x013b, "artist"), (0x8298, "copyright"),
    ]

    /// The values of EXIF by name, in the order of `tags`; `nil` without EXIF.
    let exif: [(name: String, value: String)]?
    /// The size of the packet of XMP.
    let xmpByteCount: Int?
    /// The name of the colour profile; "unnamed" for one without.
    let profile: String?
    /// The colours of the profile, such as "RGB" or "CMYK".
    let profileColors: String?

    init(_ metadata: ImageMetadata) {
        exif = metadata.exif.map(Self.values)
        xmpByteCount = metadata.xmp?.count
        profile = metadata.iccProfile.map { Self.name(ofProfile: $0) ?? "unnamed" }
        profileColors = metadata.iccProfile.flatMap { ByteReader(bytes: $0[...]).text(at: 16, count: 4) }
            .map { String($0.prefix { $0 != " " }) }
    }

    /// Returns the values of the first directory, and of that for photographs.
    private static func values(in block: [UInt8]) -> [(name: String, value: String)] {
        var reader = ByteReader(bytes: block[...])
        reader.isLittleEndian = block.first == UInt8(ascii: "I")
        var found: [Int: String] = [:]
        var directories = [reader.number(at: 4, count: 4)].compactMap(\.self)
        // Only the first one can name another.
        for isFirst in [true, false] {
            guard let start = directories.popLast() else { break }
            for index in 0..<min(reader.number(at: start, count: 2) ?? 0, 1_024) {
                let entry = start + 2 + 12 * index
                guard let tag = reader.number(at: entry, count: 2) else { break }
                if tag == 0x8769, isFirst, let next = reader.number(at: entry + 8, count: 4) {
                    directories.append(next)
                }
                if found[tag] == nil { found[tag] = value(at: entry, in: reader) }
            }
        }
        return tags.compactMap { tag in found[tag.number].map { (tag.name, $0) } }
    }

    /// Returns the value of an entry: a text, a number or a fraction.
    private static func value(at entry: Int, in reader: ByteReader) -> String? {
        guard let type = reader.number(at: entry + 2, count: 2), let count = reader.number(at: entry + 4, count: 4),
            let place = reader.number(at: entry + 8, count: 4)
        else { return nil }
        switch type {
        case 2:
            let text = reader.text(at: count <= 4 ? entry + 8 : place, count: min(count, 256))
            return text.map { $0.split(separator: " ").joined(separator: " ") }
        case 3: return reader.number(at: entry + 8, count: 2).map(String.init)
        case 4: return "\(place)"
        case 5:
            guard let numerator = reader.number(at: place, count: 4),
                let denominator = reader.number(at: place + 4, count: 4), denominator > 0
            else { return nil }
            if numerator % denominator == 0 { return "\(numerator / denominator)" }
            if numerator < denominator, denominator % max(1, numerator) == 0 { return "1/\(denominator / numerator)" }
            return JSON.number(Double(numerator) / Double(denominator)).text
        default: return nil
        }
    }

    /// Returns the description in a colour profile.
    ///
    /// - SeeAlso: ICC.1:2022, sections 9.2.41 and 10.15; ICC.1:2001, section 6.5.17.
    private static func name(ofProfile bytes: [UInt8]) -> String? {
        let reader = ByteReader(bytes: bytes[...])
        for index in 0..<min(reader.number(at: 128, count: 4) ?? 0, 100) {
            let entry = 132 + 12 * index
            guard reader.text(at: entry, count: 4) == "desc", let start = reader.number(at: entry + 4, count: 4) else {
                continue
            }
            if reader.text(at: start, count: 4) == "desc", let count = reader.number(at: start + 8, count: 4) {
                return reader.text(at: start + 12, count: min(count, 256))
            }
            guard let count = reader.number(at: start + 20, count: 4),
                let place = reader.number(at: start + 24, count: 4)
            else { return nil }
            let units = (0..<min(count, 512) / 2).compactMap { reader.number(at: start + place + 2 * $0, count: 2) }
            // Some writers count the NUL behind the text, too.
            return String(decoding: units.prefix { $0 != 0 }.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
        }
        return nil
    }
}
