extension ImageFormat {
    /// What the first bytes say.
    public enum Detection: Sendable, Hashable {
        /// The bytes begin a picture of this format.
        case format(ImageFormat)
        /// All bytes so far could begin a picture: more are needed. At most ``longestSignature`` are.
        case needsMoreBytes
        /// The bytes begin no picture that is known.
        case unknown
    }

    /// No format needs more bytes than this to be recognised, apart from SVG with a long preamble.
    public static let maximumSignatureLength = 4_096

    /// Recognises a format by its content, never by a name.
    ///
    /// `bytes` are the first ones of the file or stream; where `isComplete` says that no more can come, the answer is
    /// never `needsMore`.
    ///
    /// - Complexity: O(1), but for text that may be SVG.
    public static func detect(in bytes: UnsafeRawBufferPointer, isComplete: Bool = false) -> Detection {
        let signature = Signature(bytes: bytes)
        if let format = signature.format { return .format(format) }
        return signature.needsMoreBytes && !isComplete ? .needsMoreBytes : .unknown
    }

    /// Recognises a format by its content.
    public static func detect(in bytes: [UInt8], isComplete: Bool = false) -> Detection {
        bytes.withUnsafeBytes { detect(in: $0, isComplete: isComplete) }
    }
}

/// The beginning of a file, compared with what formats begin with.
private struct Signature {
    let bytes: UnsafeRawBufferPointer
    var format: ImageFormat?
    var needsMoreBytes = false

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        for (prefix, format) in Self.prefixes where matches(prefix) {
            self.format = format
            return
        }
        if matches(Array("RIFF".utf8)), matches(Array("WEBP".utf8), at: 8) { format = format ?? .webp }
        if matches(Array("ftyp".utf8), at: 4) { format = format ?? isoMediaFormat() }
        if format == nil, !needsMoreBytes, mayBeXML { format = svgFormat() }
    }

    static let prefixes: [([UInt8], ImageFormat)] = [
        ([0xff, 0xd8, 0xff], .jpeg),
        ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], .png),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        ([0x49, 0x49, 0x2a, 0x00], .tiff),
        ([0x4d, 0x4d, 0x00, 0x2a], .tiff),
        ([0x49, 0x49, 0x2b, 0x00], .tiff),
        ([0x4d, 0x4d, 0x00, 0x2b], .tiff),
        (Array("BM".utf8), .bmp),
        (Array("BA".utf8), .bmp),
        ([0x00, 0x00, 0x01, 0x00], .ico),
        ([0x00, 0x00, 0x02, 0x00], .ico),
        ([0xff, 0x0a], .jpegxl),
        ([0x00, 0x00, 0x00, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a], .jpegxl),
    ]

    /// Whether `wanted` stands at `offset`; notes when only more bytes could tell.
    mutating func matches(_ wanted: [UInt8], at offset: Int = 0) -> Bool {
        for (index, byte) in wanted.enumerated() {
            guard offset + index < bytes.count else {
                needsMoreBytes = needsMoreBytes || offset == 0 || bytes.count < 12
                return false
            }
            if bytes[offset + index] != byte { return false }
        }
        return true
    }

    /// The brands of an ISO base media file: `ftyp`, a major brand, a version, compatible brands.
    mutating func isoMediaFormat() -> ImageFormat? {
        guard bytes.count >= 12 else { needsMoreBytes = true; return nil }
        let length = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let end = min(max(length, 16), 512)
        let offsets = [8] + stride(from: 16, to: max(16, end - 3), by: 4)
        for offset in offsets {
            guard offset + 4 <= bytes.count else { needsMoreBytes = true; return nil }
            switch String(decoding: bytes[offset..<offset + 4], as: UTF8.self) {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
            default: continue
            }
        }
        return nil
    }

    /// Whether the file may be XML: it begins with white space, a byte order mark or "<".
    var mayBeXML: Bool {
        guard let first = bytes.first else { return false }
        return [0x3c, 0x20, 0x09, 0x0a, 0x0d, 0xef].contains(first)
    }

    /// Looks for the `svg` element behind declaration, comments and document type.
    mutating func svgFormat() -> ImageFormat? {
        var rest = Substring(String(decoding: bytes.prefix(ImageFormat.maximumSignatureLength), as: UTF8.self))
        needsMoreBytes = bytes.count < ImageFormat.maximumSignatureLength
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "\u{feff}" }
            if rest.hasPrefix("<svg") || rest.hasPrefix("<svg:svg") { return .svg }
            guard let opening = Self.prologItems.first(where: { rest.hasPrefix($0.opening) }) else { break }
            let isSubset = opening.closing == ">" && rest.prefix { $0 != ">" }.contains("[")
            guard let next = Self.skip(rest, past: isSubset ? "]>" : opening.closing) else { return nil }
            rest = next
        }
        needsMoreBytes = needsMoreBytes && (Self.prologItems.map(\.opening) + ["<svg"]).contains { $0.hasPrefix(rest) }
        return nil
    }

    /// What may stand before the root element, and how it ends.
    static let prologItems = [
        (opening: "<?", closing: "?>"), (opening: "<!--", closing: "-->"), (opening: "<!DOCTYPE svg", closing: ">"),
    ]

    static func skip(_ text: Substring, past end: String) -> Substring? {
        var rest = text
        while !rest.isEmpty {
            if rest.hasPrefix(end) { return rest.dropFirst(end.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
