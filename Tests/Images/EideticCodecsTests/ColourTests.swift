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

    @Test(
        "F02 the black of a CMYK profile stays as it is, that of the perceptual table, or of the colorimetric one alone",
        arguments: [[("A2B0", 51), ("A2B1", 102)], [("A2B1", 51)]] as [[(String, UInt8)]]
    )
    func inkBlack(tables: [(String, UInt8)]) throws {
        var tiff = TIFFWriter(
            width: 1,
            height: 1,
            bits: 8,
            samples: 4,
            photometric: 5,
            compression: 1,
            strip: [0, 0, 0, 255]
        )
        tiff.add(tag: 34_675, bytes: TestProfile.inks(tables))
        // L* 20 is a luminance of 0.0299 (CIE 15), and that is 48 in sRGB. Chromium 156 compensates for no black point
        // either, and takes the table A2B0 before A2B1, which it takes alone, too.
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
        "F02 a profile with another white than D50, or a tag outside of it or without a type, is ignored",
        arguments: [(70, 0, false), (71, 0x40, true), (220, 1, false), (227, 4, true), (227, 3, false)]
    )
    func profileLayout(offset: Int, value: UInt8, isUsed: Bool) throws {
        // The eighth of its tags, the entry of which begins at byte 216, is its name.
        var profile = TestProfile.rgb(swapsRedAndGreen: true, name: "c2")
        #expect(profile[216..<220].elementsEqual("desc".utf8))
        profile.replaceSubrange(offset...offset, with: [value])
        let pixel = try decodedPixel(of: Self.png(colour: [250, 40, 90], profile: profile))
        // Chromium 156.
        #expect((pixel.y > 240) == isUsed && (pixel == [250, 40, 90, 255]) == !isUsed, "\(pixel)")
    }

    @Test(
        "F02 a profile with a curve that falls, or with a power of negative values, is ignored",
        arguments: [
            ([2.2], true), ([2.2, 1.1, -0.1], true), ([2.2, 0.9, 0.1], false), ([2.2, -1, 1], false),
            ([-1, 1, 0], false), ([2.2, 1.1, -0.1, 0.05], true), ([2.2, 0.8, 0.1, 0.1], false),
            ([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045], true), ([2.4, 1, 0, -0.5, 0.1], false),
            ([2.4, 0.9, 0.1, 0.1, -0.1], false), ([2.4, 0.9, -0.5, 0.1, 0.1], false),
            ([2.4, 0.9, 0.1, 0.1, 0.04, -0.05, 0.01], true),
        ]
            as [([Double], Bool)]
    )
    func profileCurve(parameters: [Double], isUsed: Bool) throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, parameters: parameters)
        let pixel = try decodedPixel(of: Self.png(colour: [250, 40, 90], profile: profile))
        // Chromium 156.
        #expect((pixel.y > 200) == isUsed && (pixel == [250, 40, 90, 255]) == !isUsed, "\(pixel)")
    }

    @Test("F02 a profile of grey that leads to lightness is ignored") func lightness() throws {
        let bytes = Self.png(colour: [128], profile: TestProfile.grey(gamma: 1, to: "Lab "))
        // Chromium 156.
        #expect(try decodedPixel(of: bytes) == [128, 128, 128, 255])
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

    @Test("L10 the thumbnail of a camera has the profile of its image") func thumbnail() throws {
        func solid(width: Int, height: Int, profile: [UInt8]?) throws -> [UInt8] {
            var options = EncodeOptions()
            options.metadata = ImageMetadata(iccProfile: profile)
            let pixels = try TestImages.solid(width: width, height: height, colour: [250, 40, 90, 255])
            return try ImageEncoder.encode(TestImages.makeImage(pixels), as: .jpeg, options: options)
        }
        let swapped = TestProfile.rgb(swapsRedAndGreen: true)
        for own in [nil, TestProfile.rgb(swapsRedAndGreen: false)] {
            let small = try solid(width: 32, height: 16, profile: own)
            var exif = ExifWriter(isLittle: false)
            exif.addDirectory([(0x0112, 3, 1, 1), (0x8769, 4, 1, 38)], next: 68)
            exif.addDirectory([(0xa002, 4, 1, 64), (0xa003, 4, 1, 32)], next: 0)
            exif.addDirectory([(0x0201, 4, 1, 98), (0x0202, 4, 1, small.count)], next: 0)
            let block = Array("Exif\0\0".utf8) + exif.bytes + small
            let segment = [0xff, 0xe1, UInt8((block.count + 2) >> 8), UInt8((block.count + 2) & 255)] + block
            let file = [0xff, 0xd8] + segment + (try solid(width: 64, height: 32, profile: swapped)).dropFirst(2)
            let pixel = try decodedPixel(of: try #require(JPEGThumbnail(in: file)).file)
            #expect((pixel.y > 240) == (own == nil) && (pixel.x > 240) == (own != nil), "\(pixel)")
        }
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
