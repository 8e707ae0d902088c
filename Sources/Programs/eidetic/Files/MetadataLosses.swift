import EideticCodecs
import EideticCore

/// The parts of a file beside its pixels that a converted file will not have.
struct MetadataLosses {
    private let bytes: [UInt8]
    private let format: ImageFormat
    private let reader: ByteReader
    private let isExifKept: Bool
    private let isXMPKept: Bool
    /// The words for the parts that a file of the same format keeps.
    private let keptNames: Set<String>
    private(set) var names: [String] = []

    /// Looks at the structure of a file whose metadata are to be kept.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - format: Its format.
    ///   - metadata: The metadata that were read.
    ///   - target: The format of the converted file.
    init(of bytes: [UInt8], format: ImageFormat, metadata: ImageMetadata?, target: ImageFormat?) {
        self.bytes = bytes
        self.format = format
        reader = ByteReader(bytes: bytes[...], isLittleEndian: format == .tiff && bytes.first == UInt8(ascii: "I"))
        let colours = ColourFacts(of: bytes, format: format)
        isExifKept = metadata?.exif != nil && target != .gif
        isXMPKept = metadata?.xmp != nil && target != .gif
        keptNames = target ?? format == format ? metadata?.parts?.names ?? [] : []
        if metadata?.exif != nil, !isExifKept { add("EXIF") }
        if metadata?.xmp != nil, !isXMPKept { add("XMP") }
        switch format {
        case .jpeg: readJPEG()
        case .png: readPNG()
        case .gif: readGIF()
        case .tiff: readTIFF()
        case .jpegxl: readJPEGXL()
        default: break
        }
        if colours.hasGainMap { add("gain map") }
        if let bits = colours.bits, bits > 8 { add("\(bits) bits per channel") }
    }

    private mutating func add(_ name: String) {
        if !names.contains(name), !keptNames.contains(name) { names.append(name) }
    }

    private mutating func readJPEG() {
        for (marker, range) in reader.jpegMarkers {
            let offset = range.lowerBound
            let name = reader.text(at: offset + 4, count: min(40, max(0, range.count - 4))) ?? ""
            switch marker {
            case 0xe0 where name == "JFIF" && reader.number(at: offset + 11, count: 1) != 0: add("resolution")
            case 0xe1 where name.hasPrefix("http://ns.adobe.com/xmp/extension/"): add("extended XMP")
            case 0xe2 where name == "MPF": add("further images")
            case 0xfe: add("comment")
            default: break
            }
        }
        bytes.withUnsafeBytes { PhotoshopResources(ofJPEG: $0).names }.forEach { add($0) }
    }

    private mutating func readPNG() {
        for chunk in reader.pngChunks {
            let keyword = reader.text(at: chunk.content.lowerBound, count: min(chunk.content.count, 18)) ?? ""
            switch chunk.name {
            case "tEXt" where keyword.hasPrefix("Raw profile type"): add("raw profile")
            case "zTXt" where keyword.hasPrefix("Raw profile type"): add("raw profile")
            case "tEXt", "zTXt": add("texts")
            case "iTXt" where keyword != "XML:com.adobe.xmp": add("texts")
            case "pHYs": add("resolution")
            case "tIME": add("time")
            default: break
            }
        }
    }

    private mutating func readGIF() {
        /// Returns the length of the palette that a byte of flags announces.
        func palette(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 6 << (flags & 7) }
        var offset = 13 + palette(reader.number(at: 10, count: 1) ?? 0)
        for _ in 0..<ByteReader.maximumStepCount {
            guard let kind = reader.number(at: offset, count: 1) else { return }
            if kind == 0x21 {
                if reader.number(at: offset + 1, count: 1) == 0xfe { add("comment") }
                if reader.text(at: offset + 3, count: 11) == "XMP DataXMP" { add("XMP") }
                offset += 2
            } else if kind == 0x2c {
                offset += 11 + palette(reader.number(at: offset + 9, count: 1) ?? 0)
            } else {
                return
            }
            while let length = reader.number(at: offset, count: 1), length > 0 { offset += length + 1 }
            offset += 1
        }
    }

    /// The tags that become EXIF, or XMP, and those that have no place in the converted file.
    private static let tagsOfTIFF = [
        34_665: "EXIF", 34_853: "EXIF", 700: "XMP", 33_723: "IPTC", 34_377: "IPTC", 282: "resolution", 270: "texts",
        271: "texts", 272: "texts", 305: "texts", 306: "texts", 315: "texts", 33_432: "texts",
    ]

    private mutating func readTIFF() {
        // The tags of a BigTIFF are not read.
        if reader.number(at: 2, count: 2) == 43 { add("EXIF") }
        guard let directory = reader.number(at: 4, count: 4), let count = reader.number(at: directory, count: 2) else {
            return
        }
        for index in 0..<min(count, 1_024) {
            let entry = directory + 2 + 12 * index
            guard let tag = reader.number(at: entry, count: 2) else { return }
            if let name = Self.tagsOfTIFF[tag] {
                let isKept = name == "XMP" ? isXMPKept : isExifKept
                if name == "IPTC" || !isKept { add(name) }
            }
            guard tag == 258, let values = reader.number(at: entry + 4, count: 4) else { continue }
            let place = values <= 2 ? entry + 8 : reader.number(at: entry + 8, count: 4) ?? 0
            if let bits = reader.number(at: place, count: 2), bits > 8 { add("\(bits) bits per channel") }
        }
    }

    private mutating func readJPEGXL() {
        var offset = 0
        while let size = reader.number(at: offset, count: 4), size >= 8,
            let name = reader.text(at: offset + 4, count: 4)
        {
            let kind = name == "brob" ? reader.text(at: offset + 8, count: 4) ?? "" : name
            if kind == "Exif", !isExifKept { add("EXIF") }
            if kind == "xml ", !isXMPKept { add("XMP") }
            offset += size
        }
    }
}
