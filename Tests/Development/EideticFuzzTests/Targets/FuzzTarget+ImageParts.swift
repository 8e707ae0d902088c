import EideticCore

@testable import EideticCodecs

extension FuzzTarget {
    /// The parts of images that have parsers of their own: detection, EXIF, profiles, placeholders.
    static let imageParts = [
        FuzzTarget(
            name: "detection",
            formats: ImageDecoder.supportedFormats,
            seeds: { texts(documents) + wideDocuments + [ownSignature, [0x7f, 0x46]] + brands },
            run: detect
        ),
        FuzzTarget(name: "exif", seeds: { [exifBlock] }) { bytes in
            let orientation = bytes.withUnsafeBytes { Exif.orientation(in: $0) }
            let upright = Exif.upright(bytes)
            require(upright.count == bytes.count, "an upright block has another length")
            require(upright.withUnsafeBytes { Exif.orientation(in: $0) } == .up, "\(orientation) is not upright")
        },
        FuzzTarget(name: "profile", maximumLength: 1 << 14, seeds: { profiles }, run: readProfile),
        FuzzTarget(name: "placeholder", seeds: { placeholderSeeds }, run: readPlaceholder),
    ]

    // MARK: Detection

    /// A format of a user, which is registered once.
    private static let ownFormat: ImageFormat = {
        let format = ImageFormat(name: "fuzz", mimeType: "image/x-fuzz")
        OwnSignatures.add([ownSignature], of: format)
        return format
    }()

    /// Longer than the place at which standard formats have theirs, so that no file begins as one and is another.
    private static let ownSignature: [UInt8] = [0x7f] + Array("FUZZ FUZZ FUZZ".utf8)

    private static let detect: @Sendable ([UInt8]) -> Void = { bytes in
        let own = ownFormat
        let whole = ImageFormat.detect(in: bytes, isComplete: true)
        require(whole != .needsMoreBytes, "a complete file needs more bytes")
        for count in [bytes.count / 2, min(bytes.count, 11), min(bytes.count, 3)] {
            guard case .format(let format) = ImageFormat.detect(in: Array(bytes.prefix(count))) else { continue }
            require(whole == .format(format), "\(format) of the first \(count) bytes is \(whole) of the whole")
        }
        guard case .format(let format) = whole else { return }
        require(ImageFormat(named: format.rawValue) == format, "another format has the name of \(format)")
        require((ImageFormat(rawValue: "\(format)") == nil) == (format == own), "\(format) is not in the table")
        require(!format.mimeType.isEmpty && !format.fileExtension.isEmpty, "\(format) has no names")
    }

    /// The beginnings of documents: images, other ones, and such that need more bytes.
    private static let documents = [
        "<svg/>", "\u{feff} <?xml version=\"1.0\"?><!-- a --><svg:svg/>", "<!DOCTYPE svg [<!ENTITY a \"]>\">]><svg>",
        "<!DOCTYPE svg PUBLIC '-//W3C' \"a\"><!-- > --><a:svg", "<!DOCTYPE svg [<?a ?><!-- ] -->", "<!DOCTYPE \"",
        "<?xml",
        "<!-", "<html>", "<a:b>", "<s", "<a:s", " text", "<" + String(repeating: "a", count: 70) + ">",
        "<!DOCTYPE svg [<!--",
        "", "R", "RIFFabcdWEBP", "RIFFabcdWAVE", "BM", "GIF89a", "<!DOCTYPE a '", "<!DOCTYPE a>", "<svg",
    ]

    /// The same in UTF-16, of both orders, and other bytes behind the first one.
    private static let wideDocuments: [[UInt8]] = {
        let text = Array("<!-- \u{e4} --><svg/>".utf16)
        let little = text.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let big = text.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        return [[0xff, 0xfe] + little, [0xfe, 0xff] + big, [0xff], [0xff, 0xff], [0xfe, 0xff] + big.dropLast(14)]
    }()

    /// The first boxes of ISO base media files.
    private static let brands: [[UInt8]] = [
        "avif", "mif1heic", "mif1MiHB", "isom", "mif1miafavis", "mif1", "",
    ].map { brands in
        let text = brands.prefix(4) + (brands.isEmpty ? "" : "\0\0\0\0") + brands.dropFirst(4)
        return [0, 0, 0, UInt8(max(24, 8 + text.utf8.count))] + Array("ftyp\(text)".utf8)
    }

    // MARK: EXIF

    /// A block of EXIF with the orientation 6.
    private static let exifBlock: [UInt8] =
        Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]

    // MARK: Profiles

    /// Reads a profile as each decoder does, and converts a colour with it.
    private static let readProfile: @Sendable ([UInt8]) -> Void = { bytes in
        _ = ICCProfile.hasSignature(bytes)
        if let points = ICCProfile.codePoints(in: bytes) { _ = points.colourSpace() }
        for model in [DecodedPixels.ColorModel.rgb, .cmyk] {
            for isDeep in [false, true] {
                _ = ColourConverter(from: .profile(bytes), colorModel: model, isDeep: isDeep)?.isGrey
            }
        }
        guard let reduced = ICCProfile.reduced(bytes) else { return }
        require(reduced.count <= bytes.count + 4, "a reduced profile is longer")
        require(ICCProfile.reduced(reduced) == reduced, "a reduced profile is reduced again")
    }

    /// Profiles that differ in what is read of them: tags, curves, code points, and headers that are refused.
    private static let profiles: [[UInt8]] = {
        let linear = curve(kind: 0, [1])
        let curves = [
            linear, curve(kind: 0, [-1]), curve(kind: 1, [2, 1, 0]), curve(kind: 1, [2, 0, 1]),
            curve(kind: 2, [2, 1, 0, 0]),
            curve(kind: 3, [2.4, 0.9, 0.05, 0.07, 0.04]), curve(kind: 3, [2.4, -1, 0, 0, 0]),
            curve(kind: 4, [2.4, 0.9, 0.05, 0.07, 0.04, 0, 0]), curve(kind: 3, [2.4]), curve(kind: 5, []),
            Array("curv\0\0\0\0\0\0\0\0".utf8),
        ]
        let table = Array("mft1\0\0\0\0".utf8)
        let points = Array("cicp\0\0\0\0".utf8)
        let primaries = ["rXYZ", "gXYZ", "bXYZ"].map {
            ($0, Array("XYZ \0\0\0\0".utf8) + [UInt8](repeating: 1, count: 12))
        }
        var late = profile("RGB ", [])
        late[8] = 5
        var long = profile("RGB ", [])
        long[0] = 1
        var yellow = profile("RGB ", [])
        yellow[68] = 1
        var outside = profile("RGB ", [("rTRC", linear)])
        outside[136] = 1
        return curves.map { profile("RGB ", [("rTRC", $0), ("gTRC", $0), ("bTRC", $0)] + primaries) }
            + [
                profile("GRAY", [("kTRC", linear)]), profile("GRAY", [("kTRC", linear)], connection: "Lab "),
                profile("RGB ", [("A2B1", table)]),
                profile("RGB ", [("A2B0", table), ("A2B1", table), ("A2B1", table)]),
                profile("CMYK", [("A2B0", table), ("D2B0", table)]),
                profile("RGB ", [("cicp", points + [9, 16, 0, 1])]),
                profile("RGB ", [("cicp", points + [1, 13, 0, 1])]),
                profile("RGB ", [("cicp", points + [9, 99, 0, 1])]),
                profile("RGB ", [("cicp", points)]), profile("RGB ", []), late, long, yellow, outside, [],
                Array(profile("RGB ", [("rTRC", linear)]).dropLast(8)),
            ]
    }()

    /// Returns a profile of these tags, one behind the other.
    private static func profile(_ space: String, _ tags: [(String, [UInt8])], connection: String = "XYZ ") -> [UInt8] {
        let start = 132 + 12 * tags.count
        var table = bigEndian(tags.count)
        var content: [UInt8] = []
        for (name, bytes) in tags {
            table += Array(name.utf8) + bigEndian(start + content.count) + bigEndian(bytes.count)
            content += bytes
        }
        var header = [UInt8](repeating: 0, count: 128)
        header.replaceSubrange(0..<4, with: bigEndian(start + content.count))
        header.replaceSubrange(8..<24, with: [4, 0, 0, 0] + Array("mntr\(space)\(connection)".utf8))
        header.replaceSubrange(36..<40, with: "acsp".utf8)
        // The white of profiles, D50.
        header.replaceSubrange(68..<80, with: bigEndian(0xf6d6) + bigEndian(0x10000) + bigEndian(0xd32d))
        return header + table + content
    }

    /// Returns a parametric curve with these parameters.
    private static func curve(kind: UInt8, _ values: [Double]) -> [UInt8] {
        Array("para\0\0\0\0".utf8) + [0, kind, 0, 0] + values.flatMap { bigEndian(Int(($0 * 65_536).rounded())) }
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    // MARK: Placeholders

    /// Reads placeholders of servers and caches, and describes the image of each by placeholders that are read again.
    private static let readPlaceholder: @Sendable ([UInt8]) -> Void = { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let images = [
            try? BlurHash.decode(text, size: PixelSize(width: 9, height: 7)), try? ThumbHash.decode(bytes),
            Image.thumbHash(text)?.pixels, Image.blurHash(text, size: PixelSize(width: 2, height: 2))?.pixels,
            (ImagePlaceholder(word: text).flatMap { try? $0.image() })?.pixels,
            ImageColor(hex: text).flatMap { Image.color($0) }?.pixels,
        ]
        for pixels in images.compactMap(\.self) {
            guard let placeholder = try? ImagePlaceholder(of: pixels) else { continue }
            require(ImagePlaceholder(word: placeholder.word) == placeholder, "\(placeholder.word) is not read")
        }
        if let decoded = Base64.decode(text) {
            require(Base64.decode(Base64.encode(decoded)) == decoded, "base64 is read otherwise than written")
        }
    }

    private static let placeholderSeeds =
        texts([
            "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "00OZZy", "1QcSHQRnh493V4dIh4eXh1h4kJUI", "AAECAwQFBgc=", "_-+/", "!!",
            "#ff8000", "#ff800080", "1QcSHQRnh493V4dIh4eXh1h4kJUI!LEHV6nWB2yk8pyo0adR*.7kCMdnj!#ff8000",
            "LEHV6nWB2yk8pyo0adR*.7kC~~~~", "L~~~~~WB2yk8pyo0adR*.7kCMdnj", "~EHV6n", "1QcSHQRnh49=",
        ])
        // Hashes of a tall image and of a wide one, and one with alpha.
        + [
            [UInt8](repeating: 0x55, count: 24), [0, 0, 0, 3, 128] + [UInt8](repeating: 0x77, count: 20),
            [0, 0, 128, 3, 0, 0x35] + [UInt8](repeating: 0x77, count: 24), [0, 0, 128, 3, 0],
        ]
}
