import EideticCodecs
import EideticCore
import Testing

@Suite("Masks and rare codings of bitmaps")
struct BMPMaskTests {
    private func decode(_ bytes: [UInt8]) throws(EideticError) -> PixelBuffer {
        try ImageDecoder.decode(bytes, options: .stored).pixels
    }

    /// Returns one pixel with these masks, in the header of Windows 5.
    private func pixel(_ value: Int, bits: Int, masks: [Int]) throws -> SIMD4<UInt8> {
        let bytes = TIFFPage.littleEndian(value, byteCount: bits / 8) + [0, 0, 0]
        let file = BMPVersion5(width: 1, height: 1, bits: bits, masks: masks, pixels: Array(bytes.prefix(4)))
        return try decode(file.file)[0, 0]
    }

    @Test("F02 masks of any width and order", arguments: [16, 24, 32]) func masks(bits: Int) throws {
        // Permutations of channels of 5, 6 and 4 bits, of which only one is full.
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            var masks = [0, 0, 0, 0], position = 0
            for channel in order {
                let width = [5, 6, 1][channel]
                masks[channel] = ((1 << width) - 1) << position
                position += width
            }
            for channel in 0..<3 {
                var expected: SIMD4<UInt8> = [0, 0, 0, 255]
                expected[channel] = 255
                #expect(try pixel(masks[channel], bits: bits, masks: masks) == expected)
            }
        }
    }

    @Test("F02 masks wider than eight bits keep their highest bits")
    func wideMasks() throws {
        let masks = [0x3ff, 0x3ff << 10, 0x3ff << 20, 3 << 30]
        #expect(try pixel(0x3ff | 512 << 10 | 3 << 30, bits: 32, masks: masks) == [255, 128, 0, 255])
        let large = [0x7ffff, 0xfff << 19, 1 << 31, 0]
        #expect(try pixel(0x7ffff | 1 << 31, bits: 32, masks: large) == [255, 0, 255, 255])
    }

    @Test(
        "F02 the largest value of a narrow channel is 255, the others in proportion",
        arguments: [
            (0xc7f3, [0xf00, 0xf0, 0xf, 0xf000], [119, 255, 51, 204]),
            (0b11_10_101_001, [0b111, 0b11_1000, 0b1100_0000, 0b11_0000_0000], [36, 182, 170, 255]),
        ]
            as [(Int, [Int], SIMD4<UInt8>)]
    )
    func narrowChannels(value: Int, masks: [Int], expected: SIMD4<UInt8>) throws {
        // Chromium 156.
        #expect(try pixel(value, bits: 16, masks: masks) == expected)
    }

    @Test("F02 headers of version 4 and 5 can state alpha without masks of colours", arguments: [true, false])
    func statedAlpha(isStated: Bool) throws {
        let masks = [0, 0, 0, isStated ? 0xff00_0000 : 0]
        var bitmap = BMPVersion5(width: 1, height: 1, bits: 32, masks: masks, pixels: [30, 20, 10, 77])
        bitmap.compression = 0
        // Chromium 156.
        #expect(try decode(bitmap.file)[0, 0] == [10, 20, 30, isStated ? 77 : 255])
    }

    @Test("F02 the masks of Windows CE have one of alpha") func alphaBitFields() throws {
        let narrow = makeBMP(
            width: 1,
            height: 1,
            bitsPerPixel: 16,
            compression: 6,
            tables: [0xf00, 0xf0, 0xf, 0xf000],
            pixels: [0xf3, 0xc7, 0, 0]
        )
        // Chromium 156.
        #expect(try decode(narrow)[0, 0] == [119, 255, 51, 204])
    }

    @Test("F02 alpha masks in 16 bits", arguments: [5, 4, 1]) func narrowAlpha(width: Int) throws {
        let maximum = (1 << width) - 1
        let masks = [1 << (15 - width), 1 << (14 - width), 1, maximum << (16 - width)]
        let opaque = try pixel(masks[3] | 1, bits: 16, masks: masks)
        #expect(opaque == [0, 0, 255, 255])
        guard width > 1 else { return }
        let half = try pixel((maximum / 2) << (16 - width) | 1, bits: 16, masks: masks)
        #expect(half == [0, 0, 255, UInt8((maximum / 2 * 255 + maximum / 2) / maximum)])
    }

    @Test("F02 a palette that reaches into the pixels is read as a whole") func overlappingPalette() throws {
        let tables = (0..<8).map { UInt32($0 * 0x10101) }
        var file = makeBMP(width: 1, height: 1, bitsPerPixel: 8, tables: tables, pixels: [0, 0, 0, 0])
        // The pixels begin at the blue of the sixth colour. Chromium 156 and Pillow.
        file[10] = 54 + 20
        #expect(try decode(file)[0, 0] == [5, 5, 5, 255])
    }

    /// Returns a bitmap of OS/2 2 with a coding of its own.
    private func os2(width: Int, height: Int, bits: Int, compression: Int, palette: [UInt8] = [], pixels: [UInt8])
        -> [UInt8]
    {
        func number(_ value: Int, _ count: Int) -> [UInt8] { TIFFPage.littleEndian(value, byteCount: count) }
        let header =
            number(64, 4) + number(width, 4) + number(height, 4) + number(1, 2) + number(bits, 2)
            + number(compression, 4) + Array(repeating: UInt8(0), count: 44)
        let offset = 14 + header.count + palette.count
        return Array("BM".utf8) + number(offset + pixels.count, 4) + number(0, 4) + number(offset, 4) + header + palette
            + pixels
    }

    @Test("F02 run-length codes of 24 bits in bitmaps of OS/2") func colourRuns() throws {
        // Two pixels, three pixels and a byte of padding, the end of the row; one pixel, the end.
        let codes: [UInt8] =
            [2, 30, 20, 10] + [0, 3, 3, 2, 1, 6, 5, 4, 9, 8, 7, 0] + [0, 0] + [1, 60, 50, 40] + [0, 1]
        let pixels = try decode(os2(width: 5, height: 2, bits: 24, compression: 4, pixels: codes))
        // Chromium 156; the first row is the lowest.
        let lowest = (0..<5).map { pixels[$0, 1] }
        #expect(
            lowest == [[10, 20, 30, 255], [10, 20, 30, 255], [1, 2, 3, 255], [4, 5, 6, 255], [7, 8, 9, 255]]
                && pixels[0, 0] == [40, 50, 60, 255] && pixels[1, 0] == [0, 0, 0, 255]
        )
        for count in 1..<codes.count - 6 {
            let short = os2(width: 5, height: 2, bits: 24, compression: 4, pixels: Array(codes.prefix(count)))
            #expect(errorCode { () throws(EideticError) in _ = try decode(short) } == .truncated)
        }
    }

    @Test("F02 the Huffman codes of OS/2 are refused by name") func faxCodes() throws {
        let codes = "000000000001 1000 11 000111 000000000001 00110101 011 0111"
        let pixels = HEIFWriter.bytes(ofBits: codes.filter { $0 != " " })
        let palette: [UInt8] = [10, 20, 30, 0, 40, 50, 60, 0]
        let fax = os2(width: 6, height: 2, bits: 1, compression: 3, palette: palette, pixels: pixels)
        let error = #expect(throws: EideticError.self) { try decode(fax) }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("Huffman codes of OS/2") == true)
        let windows = makeBMP(width: 1, height: 1, bitsPerPixel: 1, compression: 3, tables: [0, 1], pixels: [0, 0])
        #expect(errorCode { () throws(EideticError) in _ = try decode(windows) } == .corrupt)
    }

    @Test("F03 the profile of a bitmap's version 5 applies, also in an icon, before or behind the pixels")
    func profiles() throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        var bitmap = BMPVersion5.row([0, 0, 255, 255])
        bitmap.profile = profile
        let mask: [UInt8] = [0, 0, 0, 0]
        for file in [
            bitmap.file, makeICO(images: [(1, bitmap.icon(mask: mask, profileIsFirst: false))]),
            makeICO(images: [(1, bitmap.icon(mask: mask, profileIsFirst: true))]),
        ] {
            let stored = try decode(file)[0, 0], converted = try ImageDecoder.decode(file).pixels[0, 0]
            #expect(stored == [255, 0, 0, 255])
            #expect(converted.y > 200 && converted.x < 60, "red and green are swapped: \(converted)")
        }
    }

    @Test("F02 an icon's mask is found behind its profile") func maskBehindProfile() throws {
        // Without any alpha the mask counts; it is behind the profile.
        var bitmap = BMPVersion5.row([1, 2, 3, 0, 4, 5, 6, 0])
        bitmap.profile = TestProfile.rgb(swapsRedAndGreen: false, gamma: 2.2)
        let icon = makeICO(images: [(2, bitmap.icon(mask: [0x40, 0, 0, 0], profileIsFirst: false))])
        let pixels = try decode(icon)
        #expect(pixels[0, 0] == [3, 2, 1, 255] && pixels[1, 0].w == 0)
    }

    @Test("F07 a profile outside the file, or too large, is ignored") func invalidProfiles() throws {
        for (offset, count) in [(1 << 30, 500), (124, 1 << 30), (Int(UInt32.max), Int(UInt32.max)), (0, 5_000_000)] {
            var bitmap = BMPVersion5.row([0, 0, 255, 255])
            bitmap.statedProfile = (offset, count)
            #expect(try ImageDecoder.decode(bitmap.file).pixels[0, 0] == [255, 0, 0, 255])
        }
    }
}
