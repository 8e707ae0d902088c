import EideticCodecs
import EideticCore
import Testing

@Suite("Colours", .timeLimit(.minutes(5)))
struct ColourTests {
    /// Returns a PNG of one colour with a profile.
    private static func png(colour: [UInt8], profile: [UInt8]) -> [UInt8] {
        var png = PNGWriter(width: 4, height: 4, colorType: [0, 4, 2, 6][colour.count - 1])
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + PNGWriter.zlibStream(of: profile))
        png.addPixels(APNGFixtures.rows(width: 4, height: 4, colour: colour))
        return png.finished
    }

    private func decodedPixel(
        of bytes: [UInt8],
        at position: Int = 1,
        convertingColours: Bool = true
    ) throws -> SIMD4<UInt8> {
        let options = DecodeOptions.with {
            $0.convertsToSRGB = convertingColours; $0.premultipliesAlpha = false
        }
        return try ImageDecoder.decode(bytes, options: options).pixels[position, position]
    }

    @Test("F02 an embedded profile is converted to sRGB, unless the options disable it") func converted()
        throws
    {
        // The profile swaps the red and green primaries of sRGB.
        let bytes = Self.png(colour: [250, 40, 90, 77], profile: TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2))
        let pixel = try decodedPixel(of: bytes)
        #expect(pixel.y > 240 && pixel.x < 60 && pixel.w == 77)
        #expect(try decodedPixel(of: bytes, convertingColours: false) == SIMD4(250, 40, 90, 77))
    }

    @Test("F02 the profile's transfer curve is applied, whatever its name is", arguments: ["", "sRGB linear", "c2"])
    func gamma(name: String) throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: false, gamma: 1, name: name)
        let bytes = Self.png(colour: [128, 128, 128], profile: profile)
        let pixel = try decodedPixel(of: bytes)
        // Half the light intensity is 188 in sRGB.
        #expect(abs(Int(pixel.x) - 188) <= 1 && pixel.x == pixel.y && pixel.y == pixel.z)
    }

    @Test(
        "F02 grey with a profile of grey is converted, and keeps its alpha",
        arguments: [[128], [128, 77], [128, 0]] as [[UInt8]]
    )
    func grey(samples: [UInt8]) throws {
        let bytes = Self.png(colour: samples, profile: TestProfile.grey(gamma: 1))
        let pixel = try decodedPixel(of: bytes), alpha = samples.count == 1 ? 255 : samples[1]
        #expect(pixel.w == alpha)
        if alpha > 0 { #expect(abs(Int(pixel.x) - 188) <= 1 && pixel.x == pixel.y && pixel.y == pixel.z) }
        let image = try ImageDecoder.decode(bytes)
        #expect(image.pixels.bytes.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == alpha })
    }

    @Test("F02 a profile of grey does not describe an image in colours") func greyProfileOfColours() throws {
        let bytes = Self.png(colour: [10, 20, 30], profile: TestProfile.grey(gamma: 1))
        #expect(try decodedPixel(of: bytes) == SIMD4(10, 20, 30, 255))
    }

    @Test("F02 CMYK with a profile becomes opaque colours") func cmykProfile() throws {
        let none: [UInt8] = [0, 0, 0, 0], black: [UInt8] = [0, 0, 0, 255]
        let strip = (0..<32).flatMap { $0 < 16 ? none : black }
        var tiff = TIFFWriter(
            width: 4,
            height: 8,
            bits: 8,
            samples: 4,
            photometric: 5,
            compression: 1,
            strip: strip
        )
        tiff.add(tag: 34_675, bytes: TestProfile.inks)
        for premultiplies in [false, true] {
            let options = DecodeOptions.with { $0.premultipliesAlpha = premultiplies }
            let pixels = try ImageDecoder.decode(tiff.finished, options: options).pixels
            #expect(pixels.bytes.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
            #expect(pixels[1, 1].x > 250 && pixels[1, 6].x < 5)
        }
    }

    @Test("F02 the black of a CMYK profile stays as it is, that of the perceptual table") func inkBlack() throws {
        var tiff = TIFFWriter(
            width: 1,
            height: 1,
            bits: 8,
            samples: 4,
            photometric: 5,
            compression: 1,
            strip: [0, 0, 0, 255]
        )
        tiff.add(tag: 34_675, bytes: TestProfile.greyInks)
        // L* 20 is a luminance of 0.0299 (CIE 15), and that is 48 in sRGB. Chromium 156 compensates for no black point
        // either, and takes the table A2B0 before A2B1.
        let pixel = try decodedPixel(of: tiff.finished, at: 0)
        #expect((0..<3).allSatisfy { abs(Int(pixel[$0]) - 48) <= 1 }, "\(pixel)")
    }

    @Test(
        "F02 the class of a profile plays no part; one of a later version, or longer than its bytes, is ignored",
        arguments: [
            (12, "link", true), (12, "abst", true), (12, "nmcl", true), (12, "scnr", true), (8, "\u{5}", false),
            (0, "\u{1}", false),
        ]
    )
    func profileHeader(offset: Int, value: String, isUsed: Bool) throws {
        var profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        profile.replaceSubrange(offset..<offset + value.utf8.count, with: value.utf8)
        let pixel = try decodedPixel(of: Self.png(colour: [250, 40, 90], profile: profile))
        // Chromium 156.
        #expect((pixel.y > 240) == isUsed && (pixel == [250, 40, 90, 255]) == !isUsed, "\(pixel)")
    }

    @Test(
        "F02 the code points in a profile come before its primaries and curves",
        arguments: [
            ([12, 13, 0, 1], [193, 83, 51]), ([1, 13, 0, 1], [180, 90, 60]), ([3, 13, 0, 1], [90, 181, 57]),
        ]
            as [([UInt8], SIMD3<UInt8>)]
    )
    func profileCodePoints(codePoints: [UInt8], shown: SIMD3<UInt8>) throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2, codePoints: codePoints)
        let pixel = try decodedPixel(of: Self.png(colour: [180, 90, 60], profile: profile))
        // Chromium 156. A reserved number states nothing.
        #expect((0..<3).allSatisfy { abs(Int(pixel[$0]) - Int(shown[$0])) <= 1 }, "\(pixel)")
    }

    @Test("F02 an invalid profile, or one of other channels, is ignored") func invalidProfile() throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        #expect(
            try decodedPixel(of: Self.png(colour: [10, 20, 30], profile: Array(profile.prefix(200))))
                == SIMD4(10, 20, 30, 255)
        )
        var cmyk = profile
        cmyk.replaceSubrange(16..<20, with: Array("CMYK".utf8))
        #expect(try decodedPixel(of: Self.png(colour: [10, 20, 30], profile: cmyk)) == SIMD4(10, 20, 30, 255))
    }
}
