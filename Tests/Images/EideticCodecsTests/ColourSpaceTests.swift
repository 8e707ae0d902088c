@testable import EideticCodecs
import EideticCore
import FoundationEssentials
import Testing

/// The colours that a file states without a profile.
///
/// The right values are those of Chromium 156.
@Suite("Stated colours", .timeLimit(.minutes(1)))
struct ColourSpaceTests {
    /// A colour in a file, what the file states of it, and how a browser shows it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let chunks: [(String, [UInt8])]
        let stored: SIMD3<UInt8>
        let shown: SIMD3<UInt8>

        init(
            _ name: String,
            _ chunks: [(String, [UInt8])],
            stored: SIMD3<UInt8> = [180, 90, 60],
            shown: SIMD3<UInt8>
        ) {
            testDescription = name
            self.chunks = chunks
            self.stored = stored
            self.shown = shown
        }
    }

    private static func expect(
        _ found: SIMD4<UInt8>,
        near right: SIMD3<UInt8>,
        _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isNear = (0..<3).allSatisfy { abs(Int(found[$0]) - Int(right[$0])) <= 1 }
        #expect(isNear, "\(found), not \(right) \(comment?.description ?? "")", sourceLocation: sourceLocation)
    }

    private static func decodedPixel(of bytes: [UInt8]) throws -> SIMD4<UInt8> {
        try ImageDecoder.decode(bytes, options: DecodeOptions()).pixels[0, 0]
    }

    // MARK: PNG

    private static func long(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    private static func gamma(_ value: Int) -> (String, [UInt8]) { ("gAMA", long(value)) }

    private static func primaries(_ values: Int...) -> (String, [UInt8]) { ("cHRM", values.flatMap(long)) }

    private static func codePoints(_ values: UInt8...) -> (String, [UInt8]) { ("cICP", values) }

    private static let displayP3 = primaries(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000)
    private static let standard: (String, [UInt8]) = ("sRGB", [0])

    /// A profile that swaps red and green.
    private static var profile: (String, [UInt8]) {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        return ("iCCP", Array("test\0\0".utf8) + PNGWriter.zlibStream(of: profile))
    }

    private static var invalidProfile: [UInt8] {
        Array("test\0\0".utf8) + PNGWriter.zlibStream(of: Array(repeating: 120, count: 200))
    }

    /// The colour that the profile makes of 180, 90, 60.
    private static let swapped: SIMD3<UInt8> = [90, 181, 57]
    private static let linear: SIMD3<UInt8> = [219, 160, 133]
    private static let same: SIMD3<UInt8> = [180, 90, 60]

    static let cases = [
        Case("gamma", [gamma(100_000)], stored: [55, 55, 55], shown: [128, 128, 128]),
        Case("usual gamma alone", [gamma(45_455)], stored: [10, 30, 200], shown: [10, 30, 200]),
        Case("nearly usual gamma alone", [gamma(45_000)], stored: [10, 30, 200], shown: [10, 30, 200]),
        Case("another gamma", [gamma(55_556)], stored: [10, 30, 200], shown: [10, 40, 210]),
        Case("gamma of zero", [gamma(0)], shown: same),
        Case("the first of two gammas", [gamma(100_000), gamma(45_455)], shown: linear),
        Case("primaries alone", [displayP3], shown: same),
        Case("primaries and gamma", [displayP3, gamma(45_455)], shown: [195, 83, 47]),
        Case("primaries of no colours", [primaries(0, 0, 0, 0, 0, 0, 0, 0), gamma(100_000)], shown: same),
        Case(
            "a chromaticity above 1",
            [primaries(31_270, 32_900, 164_000, 33_000, 30_000, 60_000, 15_000, 6_000), gamma(100_000)],
            shown: same
        ),
        Case("sRGB before gamma", [gamma(100_000), standard], shown: same),
        Case("profile before sRGB", [standard, profile, gamma(100_000)], shown: swapped),
        Case("profile before a later sRGB", [profile, standard], shown: swapped),
        Case("code points", [codePoints(12, 13, 0, 1)], shown: [193, 83, 51]),
        Case("code points before all", [standard, profile, codePoints(12, 13, 0, 1)], shown: [193, 83, 51]),
        Case("code points, linear", [codePoints(1, 8, 0, 1)], shown: linear),
        Case("code points of video", [codePoints(1, 1, 0, 1)], stored: [10, 30, 200], shown: [1, 18, 197]),
        Case("code points, BT.2020", [codePoints(9, 14, 0, 1)], stored: [10, 30, 200], shown: [0, 6, 207]),
        Case("unspecified code points", [codePoints(2, 2, 0, 1), gamma(100_000)], shown: linear),
        Case("reserved primaries", [codePoints(3, 13, 0, 1), gamma(100_000)], shown: linear),
        Case("code points in narrow range", [codePoints(12, 13, 0, 0)], shown: same),
        Case("code points behind a palette", [("PLTE", [1, 2, 3]), codePoints(12, 13, 0, 1)], shown: same),
        Case("code points without a known transfer", [codePoints(1, 12, 0, 1), gamma(100_000)], shown: linear),
        Case("sRGB without an intent", [("sRGB", []), gamma(100_000)], shown: linear),
        Case("sRGB with an unknown intent", [("sRGB", [4]), gamma(100_000)], shown: linear),
        Case("sRGB with two intents", [("sRGB", [0, 0]), gamma(100_000)], shown: linear),
        Case("a profile without a name", [("iCCP", Array(profile.1.dropFirst(4))), gamma(100_000)], shown: linear),
        Case("no profile, and gamma", [("iCCP", invalidProfile), gamma(100_000)], shown: linear),
    ]

    private static func png(_ example: Case) -> [UInt8] {
        var png = PNGWriter(width: 1, height: 1)
        for (name, content) in example.chunks { png.addChunk(name, content: content) }
        png.addPixels([0, example.stored.x, example.stored.y, example.stored.z])
        return png.finished
    }

    @Test("F02 cICP, iCCP, sRGB, gAMA with cHRM, in this order of precedence (PNG 3rd ed., 4.3)", arguments: cases)
    func chunks(_ example: Case) throws {
        Self.expect(try Self.decodedPixel(of: Self.png(example)), near: example.shown)
    }

    @Test("F02 previews have the same colours", arguments: cases) func previews(_ example: Case) throws {
        let decoder = PreviewDecoder(options: DecodeOptions(), limits: .standard, context: JobContext())
        let preview = try #require(try decoder.preview(of: Self.png(example)))
        Self.expect(preview.pixels[0, 0], near: example.shown)
    }

    @Test("F02 a colour chunk with a wrong checksum is ignored, as in browsers", arguments: ["cICP", "iCCP", "gAMA"])
    func wrongChecksum(name: String) throws {
        let chunks = [Self.codePoints(12, 13, 0, 1), Self.profile, Self.gamma(100_000)]
        var png = PNGWriter(width: 1, height: 1)
        for (found, content) in chunks where found == name {
            png.addChunk(found, content: content, hasWrongChecksum: true)
        }
        png.addPixels([0, 180, 90, 60])
        Self.expect(try Self.decodedPixel(of: png.finished), near: Self.same)
    }

    // MARK: AVIF and HEIC

    /// The matrix of the file is the identity; with another one the values stand for other colours, as in Chromium 156.
    @Test("F02 an AVIF whose matrix has a reserved number is shown as an unspecified one", arguments: [15, 200])
    func reservedMatrix(matrix: UInt8) throws {
        let files = [matrix, 2].map { Self.avif(Self.same, primaries: 1, transfer: 13, matrix: $0) }
        #expect(try Self.decodedPixel(of: files[0]) == Self.decodedPixel(of: files[1]))
    }

    /// 16 x 16 pixels of 180, 90, 60, or of 10, 30, 200, coded by libavif without loss as red, green and blue.
    private static func avif(
        _ colour: SIMD3<UInt8>,
        primaries: UInt8,
        transfer: UInt8,
        matrix: UInt8 = 0
    ) -> [UInt8] {
        let data =
            colour == same
            ? "EgAKCDgM/9hDA0AkMhQQAAA5ULskekTu6tWIgkGiOWuCow=="
            : "EgAKCDgM/9hAQEAkMhUQAAA5ULskcVOzuqwRCVR0cNNBCvA="
        let properties = [
            HEIFContainer.box("av1C", [0x81, 0x20, 0, 0]), HEIFContainer.size(16, 16),
            nclx(primaries: primaries, transfer: transfer, matrix: matrix),
        ]
        var file = HEIFContainer()
        file.add(
            HEIFContainer.Item(type: "av01", data: Array(Data(base64Encoded: data) ?? Data()), properties: properties),
            as: 1
        )
        return file.finished
    }

    private static func nclx(primaries: UInt8, transfer: UInt8, matrix: UInt8) -> [UInt8] {
        HEIFContainer.box("colr", Array("nclx".utf8) + [0, primaries, 0, transfer, 0, matrix, 0x80])
    }

    /// Code points, and the colours that are shown for 180, 90, 60 or 10, 30, 200.
    static let points: [(primaries: UInt8, transfer: UInt8, isBlue: Bool, shown: SIMD3<UInt8>)] = [
        (1, 13, false, [180, 90, 60]), (12, 13, false, [193, 83, 51]), (1, 8, false, [219, 160, 133]),
        (4, 13, false, [208, 84, 50]), (5, 13, false, [183, 90, 60]), (8, 13, false, [200, 83, 51]),
        (10, 13, false, [255, 0, 69]), (11, 13, false, [190, 84, 51]), (22, 13, false, [182, 92, 59]),
        (2, 2, true, [10, 30, 200]), (0, 0, true, [10, 30, 200]), (1, 1, true, [10, 30, 200]),
        (6, 6, true, [25, 41, 201]), (9, 14, true, [0, 25, 210]), (1, 4, true, [3, 24, 201]),
        (1, 5, true, [0, 8, 189]), (1, 7, true, [25, 48, 206]), (1, 17, true, [1, 13, 200]),
    ]

    @Test(
        "F02 the code points of AVIF count, primaries and transfer",
        .enabled(if: ImageDecoder.supportedFormats.contains(.avif)),
        arguments: points
    )
    func avif(primaries: UInt8, transfer: UInt8, isBlue: Bool, shown: SIMD3<UInt8>) throws {
        let file = Self.avif(isBlue ? [10, 30, 200] : Self.same, primaries: primaries, transfer: transfer)
        Self.expect(try Self.decodedPixel(of: file), near: shown)
    }

    @Test(
        "F02 the code points of HEIC count as those of PNG",
        .enabled(if: ImageDecoder.supportedFormats.contains(.heic)),
        arguments: [(12, 13), (9, 13), (1, 8)] as [(UInt8, UInt8)]
    )
    func heic(primaries: UInt8, transfer: UInt8) throws {
        func decoded(_ primaries: UInt8, _ transfer: UInt8) throws -> SIMD4<UInt8> {
            var tile = HEICItemTests.tile
            tile.properties.append(Self.nclx(primaries: primaries, transfer: transfer, matrix: 6))
            var file = HEIFContainer(brand: "heic")
            file.add(tile, as: 1)
            return try Self.decodedPixel(of: file.finished)
        }
        let stored = try decoded(1, 13), colour = SIMD3(stored.x, stored.y, stored.z)
        let png = Case("", [Self.codePoints(primaries, transfer, 0, 1)], stored: colour, shown: colour)
        let right = try Self.decodedPixel(of: Self.png(png))
        #expect(right != stored)
        Self.expect(try decoded(primaries, transfer), near: [right.x, right.y, right.z])
    }

    /// 64 x 64 pixels by x265, whose sequence parameter set states colours: Display P3, without and with other facts
    /// before them, and PQ with 10 bits.
    static let videos: [(name: String, points: (UInt8, UInt8), configuration: String, data: String)] = [
        (
            "Display P3", (12, 13),
            "AAAAd2h2Y0MBBAgAAAAAAAAAAAAe8AD8//j4AAAPAyAAAQAXQAEMAf//BAgAAAMAnjgAAAMAAB66AkAhAAEAKkIBAQQIAAADAJ44AAADAAAe"
                + "kAQQILLdSSU1zcMDQYEAAAMAAQAAAwABCCIAAQAIRAHBcoYMAiQ=",
            "AAAAGCgBrxOA5TPAn//KCj/95HPD5MKK1Q9T4A=="
        ),
        (
            "scaling lists, aspect ratio, overscan", (12, 13),
            "AAAAkWh2Y0MBBAgAAAAAAAAAAAAe8AD8//j4AAAPAyAAAQAXQAEMAf//BAgAAAMAnjgAAAMAAB66AkAhAAEAREIBAQQIAAADAJ44AAAD"
                + "AAAekAQQILLdSSVyf/9VVVXJ//////////1Vyf//////////Xh1uGBoMCAAAAwAIAAADAAhAIgABAAhEAcFyhgwCJA==",
            "AAAAGCgBrxOA5TPAn//KCj/95HPD5MKK1Q9T4A=="
        ),
        (
            "PQ", (9, 16),
            "AAAAeGh2Y0MBBAgAAAAAAAAAAAAe8AD8//r6AAAPAyAAAQAXQAEMAf//BAgAAAMAnDgAAAMAAB66AkAhAAEAK0IBAQQIAAADAJw4AAADAAAe"
                + "kAQQIJst1JJTXNwkQBgQAAADABAAAAMAEIAiAAEACEQBwXKGDAIk",
            "AAAAFygBrxOA5TPhv//wGqP/yHzw70lrVAz8"
        ),
    ]

    @Test(
        "F02 the colours that the video of a HEIC states count where its container states none (ISO/IEC 23008-12, 6.5.5)",
        .enabled(if: ImageDecoder.supportedFormats.contains(.heic)),
        // The one with scaling lists has been edited, and is not what its pixels were coded with.
        arguments: [0, 2]
    )
    func heicVideo(_ index: Int) throws {
        let video = Self.videos[index]
        func decoded(_ points: (UInt8, UInt8)?) throws -> SIMD4<UInt8> {
            let configuration = Array(Data(base64Encoded: video.configuration) ?? Data())
            let data = Array(Data(base64Encoded: video.data) ?? Data())
            var properties = [configuration, HEIFContainer.size(64, 64)]
            if let points { properties.append(Self.nclx(primaries: points.0, transfer: points.1, matrix: 6)) }
            var file = HEIFContainer(brand: "heic")
            file.add(HEIFContainer.Item(type: "hvc1", data: data, properties: properties), as: 1)
            return try Self.decodedPixel(of: file.finished)
        }
        #expect(try decoded(nil) == decoded(video.points))
        #expect(try decoded(nil) != decoded((1, 13)))
    }

    #if HEIF
    @Test("F02 the facts before the colours of a parameter set of HEVC are skipped", arguments: videos.indices)
    func parameterSet(_ index: Int) throws {
        let video = Self.videos[index], box = try #require(Data(base64Encoded: video.configuration))
        let points = try #require(Array(box.dropFirst(8)).withUnsafeBytes { HEVCParameterSet.codePoints(in: $0) })
        #expect(points == (Int(video.points.0), Int(video.points.1)))
    }
    #endif
}
