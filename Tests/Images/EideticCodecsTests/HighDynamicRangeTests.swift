import EideticCodecs
import EideticCore
import FoundationEssentials
import Glibc
import Testing

/// Colours in a high dynamic range.
///
/// The right values are those of Chromium 156, whose curve keeps reference white: 203 cd/m², which is 0.58 in PQ and
/// 0.75 in HLG (ITU-R BT.2408-7, table 1), becomes half of the light of white, 187.
@Suite("High dynamic range", .timeLimit(.minutes(1)))
struct HighDynamicRangeTests {
    private static func long(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    private static func short(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    /// A PNG of one row.
    private static func png(
        _ colours: [SIMD3<Int>],
        depth: UInt8,
        chunks: [(String, [UInt8])]
    ) -> [UInt8] {
        var png = PNGWriter(width: colours.count, height: 1, depth: depth)
        for (name, content) in chunks { png.addChunk(name, content: content) }
        let samples = colours.flatMap { [$0.x, $0.y, $0.z] }
        png.addPixels([0] + (depth == 16 ? samples.flatMap(short) : samples.map(UInt8.init)))
        return png.finished
    }

    private static func codePoints(_ primaries: UInt8, _ transfer: UInt8) -> (String, [UInt8]) {
        ("cICP", [primaries, transfer, 0, 1])
    }

    private static func expect(
        _ bytes: [UInt8],
        _ right: [SIMD3<Int>],
        within tolerance: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let pixels = try ImageDecoder.decode(bytes).pixels
        for (x, right) in right.enumerated() {
            let found = pixels[x, 0]
            let isNear = (0..<3).allSatisfy { abs(Int(found[$0]) - right[$0]) <= tolerance }
            #expect(isNear, "pixel \(x): \(found), not \(right)", sourceLocation: sourceLocation)
        }
    }

    private static let stored = [0, 20, 64, 100, 128, 148, 160, 191, 200, 220, 240, 255]

    /// Transfer characteristics, a chunk about the brightest light, and what is shown of the greys ``stored``.
    static let greys: [(name: String, transfer: UInt8, chunks: [(String, [UInt8])], shown: [Int])] = [
        ("PQ", 16, [], [0, 1, 30, 76, 132, 187, 213, 254, 255, 255, 255, 255]),
        ("HLG", 18, [], [0, 5, 43, 75, 99, 120, 135, 187, 202, 224, 243, 255]),
        ("PQ to 203 cd/m²", 16, [image(203)], [0, 3, 44, 107, 181, 255, 255, 255, 255, 255, 255, 255]),
        ("PQ to 600 cd/m²", 16, [image(600)], [0, 2, 35, 88, 150, 212, 236, 255, 255, 255, 255, 255]),
        (
            "PQ to 600 cd/m² of a display of 4,000", 16, [display(4_000), image(600)],
            [0, 2, 35, 88, 150, 212, 236, 255, 255, 255, 255, 255]
        ),
        (
            "PQ to an unknown light of a display of 600 cd/m²", 16, [image(0), display(600)],
            [0, 2, 35, 88, 150, 212, 236, 255, 255, 255, 255, 255]
        ),
        ("PQ to an impossible light", 16, [image(20_000)], [0, 1, 30, 76, 132, 187, 213, 254, 255, 255, 255, 255]),
        ("HLG to 600 cd/m²", 18, [image(600)], [0, 6, 50, 86, 113, 136, 154, 212, 226, 245, 255, 255]),
        (
            "HLG of a display of 100 cd/m²", 18, [display(100)],
            [0, 10, 62, 104, 137, 165, 185, 254, 255, 255, 255, 255]
        ),
    ]

    private static func image(_ luminance: Int) -> (String, [UInt8]) {
        ("cLLI", long(10_000 * luminance) + long(0))
    }

    private static func display(_ luminance: Int) -> (String, [UInt8]) {
        ("mDCV", [UInt8](repeating: 1, count: 16) + long(10_000 * luminance) + long(50))
    }

    @Test("F02 PQ and HLG are mapped to standard range by the brightest light of the file", arguments: greys.indices)
    func mapped(_ index: Int) throws {
        let example = Self.greys[index], chunks = [Self.codePoints(9, example.transfer)] + example.chunks
        for depth in [8, 16] {
            let stored = Self.stored.map { SIMD3(repeating: depth == 8 ? $0 : 257 * $0) }
            let bytes = Self.png(stored, depth: UInt8(depth), chunks: chunks)
            try Self.expect(bytes, example.shown.map { SIMD3(repeating: $0) })
        }
    }

    @Test("F02 a peak far above 1,000 cd/m² leaves reference white where it is") func highPeak() throws {
        let stored = Self.stored.map { SIMD3(repeating: $0) }
        let bytes = Self.png(stored, depth: 8, chunks: [Self.codePoints(9, 16), Self.image(4_000)])
        let shown = [0, 1, 30, 76, 132, 187, 202, 225, 232, 247, 255, 255]
        // Chromium draws its curve through eight points.
        try Self.expect(bytes, shown.map { SIMD3(repeating: $0) }, within: 3)
    }

    @Test(
        "F02 the hue of what is bright remains, in all primaries",
        arguments: [
            (1, 16, [[226, 70, 30], [88, 255, 2], [255, 9, 110]]),
            (9, 18, [[150, 64, 42], [0, 191, 0], [255, 0, 125]]),
            (1, 18, [[125, 73, 48], [108, 184, 24], [235, 52, 133]]),
            (12, 16, [[243, 48, 0], [0, 255, 0], [255, 0, 96]]),
            (12, 18, [[134, 70, 42], [78, 185, 0], [250, 2, 131]]),
        ] as [(UInt8, UInt8, [SIMD3<Int>])]
    )
    func colours(primaries: UInt8, transfer: UInt8, shown: [SIMD3<Int>]) throws {
        let bytes = Self.png(Self.colours, depth: 16, chunks: [Self.codePoints(primaries, transfer)])
        try Self.expect(bytes, shown)
    }

    private static let colours = ([[5, 3, 2], [4, 6, 1], [7, 2, 5]] as [SIMD3<Int>]).map { $0 &* 8_191 }

    @Test(
        "F02 with a peak no higher than reference white, each channel is clipped alone",
        arguments: [
            (16, [[255, 0, 0], [0, 255, 0], [255, 0, 255]]), (18, [[204, 89, 60], [0, 255, 0], [255, 0, 188]]),
        ] as [(UInt8, [SIMD3<Int>])]
    )
    func clipped(transfer: UInt8, shown: [SIMD3<Int>]) throws {
        let chunks = [Self.codePoints(9, transfer), Self.image(150)]
        try Self.expect(Self.png(Self.colours, depth: 16, chunks: chunks), shown)
    }

    @Test("F02 alpha is kept, of 8 and of 16 bits; without a conversion the stored values remain")
    func alphaAndStoredValues() throws {
        var png = PNGWriter(width: 1, height: 1, depth: 16, colorType: 6)
        png.addChunk("cICP", content: [9, 16, 0, 1])
        png.addPixels([0] + [148, 148, 148, 148, 148, 148, 80, 80])
        let options = DecodeOptions.with { $0.premultipliesAlpha = false }
        #expect(try ImageDecoder.decode(png.finished, options: options).pixels[0, 0] == [187, 187, 187, 80])
        let raw = DecodeOptions.with { ($0.premultipliesAlpha, $0.convertsToSRGB) = (false, false) }
        #expect(try ImageDecoder.decode(png.finished, options: raw).pixels[0, 0] == [148, 148, 148, 80])
    }

    @Test("F02 previews are mapped too") func preview() throws {
        let bytes = Self.png([[148, 148, 148]], depth: 8, chunks: [Self.codePoints(9, 16)])
        let decoder = PreviewDecoder(options: DecodeOptions(), limits: .standard, context: JobContext())
        #expect(try decoder.preview(of: bytes)?.pixels[0, 0] == [187, 187, 187, 255])
    }

    // MARK: Files of 16 x 16 pixels of 30000, 24000, 20000 of 65535

    /// PQ and HLG of the colour in BT.2020.
    private static let shown: [UInt8: SIMD3<Int>] = [16: [127, 59, 40], 18: [97, 67, 56]]

    private static func bytes(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }

    private static func nclx(_ transfer: UInt8, matrix: UInt8) -> [UInt8] {
        HEIFContainer.box("colr", Array("nclx".utf8) + [0, 9, 0, transfer, 0, matrix, 0x80])
    }

    /// The brightest light in candela per square metre, of the image and of a display, and how PQ and HLG are shown.
    static let lights: [(image: Int?, display: Int?, shown: [UInt8: SIMD3<Int>])] = [
        (nil, nil, shown), (300, 4_000, [16: [163, 78, 54], 18: [126, 89, 74]]), (4_000, 300, shown), (0, 300, shown),
        (nil, 300, shown),
    ]

    @Test(
        "F02 AVIF of 10 bits in PQ and HLG",
        .enabled(if: ImageDecoder.supportedFormats.contains(.avif)),
        arguments: [16, 18] as [UInt8],
        lights.indices
    )
    func avif(transfer: UInt8, light: Int) throws {
        let light = Self.lights[light]
        let image = light.image.map { HEIFContainer.box("clli", Self.short($0) + [0, 0]) }
        let display = light.display.map {
            HEIFContainer.box("mdcv", [UInt8](repeating: 1, count: 16) + Self.long(10_000 * $0) + Self.long(1))
        }
        let data = "EgAKCDgM/9jCRAAkMhUQAAAAFLm3FMSE0UW/rORKjrkbxYA="
        let properties = [
            HEIFContainer.box("av1C", [0x81, 0x20, 0x40, 0]), HEIFContainer.size(16, 16),
            Self.nclx(transfer, matrix: 0), image, display,
        ].compactMap(\.self)
        var file = HEIFContainer()
        file.add(HEIFContainer.Item(type: "av01", data: Self.bytes(data), properties: properties), as: 1)
        try Self.expect(file.finished, [#require(light.shown[transfer])])
    }

    @Test(
        "F02 HEIC of 10 bits in PQ and HLG",
        .enabled(if: ImageDecoder.supportedFormats.contains(.heic)),
        arguments: [16, 18] as [UInt8]
    )
    func heic(transfer: UInt8) throws {
        let configuration =
            "AAAAdWh2Y0MBBAgAAAAAAAAAAAD/8AD8/fr6AAAPAyAAAQAXQAEMAf//BAgAAAMAnbgAAAMAAP+6AkAhAAEAKkIBAQQIAAADAJ24AAAD"
            + "AAD/oCCBBNluqumubgQEDAgAAAMACAAAAwAIQCIAAQAGRAHBcYsS"
        let data =
            "AAAAeSgBrwWyHtBw0C7tkc///X/67+q/RfJfJfJfJfJ/J/J/J/J/J/J/J/87X//yJ2v//2Ki/SnaiRIkSKkSJEiRIjyT/9j3QA/z/535XwuL"
            + "i4uLj4+Pj4+Pj43RWxLELJca4DJN2dBf4GGi2FpjQGK/Bf8gC2BP4OvyJww="
        // Coded in 64 x 64 pixels.
        let properties = [Self.bytes(configuration), HEIFContainer.size(64, 64), Self.nclx(transfer, matrix: 6)]
        var file = HEIFContainer(brand: "heic")
        file.add(HEIFContainer.Item(type: "hvc1", data: Self.bytes(data), properties: properties), as: 1)
        try Self.expect(file.finished, [#require(Self.shown[transfer])])
    }

    @Test(
        "F02 JPEG XL of 16 bits in PQ and HLG",
        .enabled(if: ImageDecoder.supportedFormats.contains(.jpegxl)),
        arguments: [
            (
                16,
                "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAAA6anhsY/8KQwT8AOTRIw4HAAAAgAgCAQB0AEsYixUAnC/G"
                    + "YHkX7wIRABggBgAQHIKpvx3A3zMB"
            ),
            (
                18,
                "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAAA7anhsY/8KQwT8AOQZCPQYAAAAAAIIAgEAdABLGIsVAJwv"
                    + "xmB5F+8CEQAYIAYAEByCqb8dwN8zAQ=="
            ),
        ] as [(UInt8, String)]
    )
    func jpegXL(transfer: UInt8, file: String) throws {
        try Self.expect(Self.bytes(file), [#require(Self.shown[transfer])])
    }

    // MARK: More than 8 bits

    @Test("F02 colours of 16 bits are converted before bits are cut: the levels of dark linear light remain")
    func deepColours() throws {
        // The lightest has 19 levels in sRGB (IEC 61966-2-1), where 8 bits of linear light have two: 0 and 13.
        let stored = (0..<64).map { SIMD3(repeating: 8 * $0) }
        let bytes = Self.png(stored, depth: 16, chunks: [("gAMA", Self.long(100_000))])
        let pixels = try ImageDecoder.decode(bytes).pixels
        let levels = Set((0..<64).map { pixels[$0, 0].x })
        #expect(levels.count > 15, "\(levels.sorted())")
        try Self.expect(
            bytes,
            stored.map { SIMD3(repeating: Int((255 * Self.encoded(Double($0.x) / 65_535)).rounded())) }
        )
    }

    @Test("F02 a profile of grey is applied to 16 bits too") func deepGrey() throws {
        var png = PNGWriter(width: 1, height: 1, depth: 16, colorType: 4)
        let profile = PNGWriter.zlibStream(of: TestProfile.grey(gamma: 1))
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + profile)
        png.addPixels([0] + Self.short(55 * 257) + Self.short(80 * 257))
        let options = DecodeOptions.with { $0.premultipliesAlpha = false }
        #expect(try ImageDecoder.decode(png.finished, options: options).pixels[0, 0] == [128, 128, 128, 80])
    }

    /// IEC 61966-2-1.
    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * exp2(log2(light) / 2.4) - 0.055
    }
}
