import EideticCodecs
import EideticCore
import Testing

@Suite("Bitmaps and icons")
struct BMPTests {
    private func decode(_ bytes: [UInt8], limits: DecodeLimits = .standard) throws(EideticError) -> PixelBuffer {
        try ImageDecoder.decode(bytes, options: .stored, limits: limits).pixels
    }

    @Test("F02 rows are stored bottom-up, unless the height is negative")
    func rowOrder() throws {
        let pixels: [UInt8] = [1, 2, 3, 0, 4, 5, 6, 0]
        let upward = try decode(makeBMP(width: 1, height: 2, bitsPerPixel: 24, pixels: pixels))
        #expect(upward[0, 0] == [6, 5, 4, 255] && upward[0, 1] == [3, 2, 1, 255])
        let downward = try decode(makeBMP(width: 1, height: -2, bitsPerPixel: 24, pixels: pixels))
        #expect(downward[0, 0] == [3, 2, 1, 255] && downward[0, 1] == [6, 5, 4, 255])
    }

    @Test("F02 run-length codes repeat, copy, skip and end rows")
    func runs() throws {
        let palette: [UInt32] = [0x0a_0a0a, 0xff_0000, 0x00_ff00]
        // Two pixels of colour 1, end of row; skip one pixel, one of colour 2; end.
        let codes: [UInt8] = [2, 1, 0, 0, 0, 2, 1, 0, 1, 2, 0, 1]
        let file = makeBMP(width: 2, height: 2, bitsPerPixel: 8, compression: 1, tables: palette, pixels: codes)
        let pixels = try decode(file)
        #expect(pixels[0, 1] == [255, 0, 0, 255] && pixels[1, 1] == [255, 0, 0, 255])
        #expect(pixels[0, 0] == [10, 10, 10, 255] && pixels[1, 0] == [0, 255, 0, 255])
    }

    @Test("F02 masks locate the channels, and 5 bits become 8 in full range")
    func masks() throws {
        let masks: [UInt32] = [0xf800, 0x07e0, 0x001f]
        let file = makeBMP(
            width: 2,
            height: 1,
            bitsPerPixel: 16,
            compression: 3,
            tables: masks,
            pixels: [0xff, 0xff, 0, 0xf8]
        )
        let pixels = try decode(file)
        #expect(pixels[0, 0] == [255, 255, 255, 255] && pixels[1, 0] == [255, 0, 0, 255])
    }

    @Test("F02 an icon is decoded to its largest image, and its mask makes pixels transparent")
    func icons() throws {
        let small = makeBMP(width: 1, height: 1, bitsPerPixel: 24, pixels: [9, 9, 9, 0, 0, 0, 0, 0], isIcon: true)
        let rows: [UInt8] = [1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0]
        let mask: [UInt8] = [0x40, 0, 0, 0, 0, 0, 0, 0]
        let large = makeBMP(width: 2, height: 2, bitsPerPixel: 24, pixels: rows + mask, isIcon: true)
        let pixels = try decode(makeICO(images: [(1, small), (2, large)]))
        #expect(pixels.size == PixelSize(width: 2, height: 2))
        #expect(pixels[0, 0] == [9, 8, 7, 255] && pixels[0, 1] == [3, 2, 1, 255])
        #expect(pixels[1, 1].w == 0)
    }

    /// Returns an icon of one colour, with 24 or 32 bits per pixel.
    private func icon(side: Int, grey: UInt8, bits: Int = 24) -> [UInt8] {
        let pixel = Array(repeating: grey, count: 3) + (bits == 32 ? [255 as UInt8] : [])
        var row: [UInt8] = []
        for _ in 0..<side { row += pixel }
        row += Array(repeating: 0, count: -row.count & 3)
        var pixels: [UInt8] = []
        for _ in 0..<side { pixels += row }
        let mask = Array(repeating: UInt8(0), count: (side + 31) / 32 * 4 * side)
        return makeBMP(
            width: Int32(side),
            height: Int32(side),
            bitsPerPixel: UInt16(bits),
            pixels: pixels + mask,
            isIcon: true
        )
    }

    private func decodedGrey(of file: [UInt8], side: Int?) throws -> UInt8 {
        let options = DecodeOptions.with { if let side { $0.size = PixelSize(width: side, height: side) } }
        let image = try ImageDecoder.decode(file, options: options)
        #expect(image.size.width == side ?? image.sourceSize.width)
        return image.pixels[0, 0].x
    }

    @Test(
        "F02 of an icon, the image that fits the wanted size, else the next larger one (gdk-pixbuf, Chromium)",
        arguments: [(nil, 30), (8, 30), (7, 30), (5, 30), (4, 20), (3, 20), (2, 10), (1, 10)] as [(Int?, UInt8)]
    )
    func iconSizes(side: Int?, grey: UInt8) throws {
        let images = [(4, 20), (8, 30), (2, 10)] as [(UInt8, UInt8)]
        let file = makeICO(images: images.map { ($0, icon(side: Int($0), grey: $1)) })
        #expect(try decodedGrey(of: file, side: side) == grey)
    }

    @Test("F02 of images of one size, an icon has that with most bits per pixel", arguments: [nil, 4, 2])
    func iconDepths(side: Int?) throws {
        let images = [icon(side: 4, grey: 10), icon(side: 4, grey: 20, bits: 32), icon(side: 4, grey: 30)]
        var file = makeICO(images: images.map { (4, $0) })
        for (index, bits) in [24, 32, 24].enumerated() { file[6 + 16 * index + 6] = UInt8(bits) }
        #expect(try decodedGrey(of: file, side: side) == 20)
        // Where the directory does not state the depth, the image does.
        for index in 0..<3 { file[6 + 16 * index + 6] = 0 }
        #expect(try decodedGrey(of: file, side: side) == 20)
    }

    @Test("F02 an icon whose directory has wrong sizes is decoded to its largest image") func wrongDirectory() throws {
        let file = makeICO(images: [(8, icon(side: 8, grey: 30)), (4, icon(side: 1, grey: 10))])
        #expect(try decodedGrey(of: file, side: 4) == 30)
        let huge = makeICO(images: [(8, icon(side: 8, grey: 30)), (4, icon(side: 16, grey: 10))])
        #expect(try decodedGrey(of: huge, side: 4) == 30)
    }

    @Test("F07 a bitmap with missing rows is truncated, or partial if the options accept that")
    func missingRows() throws {
        let file = makeBMP(width: 1, height: 2, bitsPerPixel: 24, pixels: [1, 2, 3, 0, 4, 5])
        #expect(throws: EideticError.self) { _ = try decode(file) }
        var options = DecodeOptions.stored
        options.acceptsPartial = true
        let image = try ImageDecoder.decode(file, options: options)
        #expect(image.isPartial)
        #expect(image.pixels[0, 1] == [3, 2, 1, 255])
    }

    @Test("F07 a huge bitmap is refused with its size and the limit before memory is allocated")
    func limits() throws {
        let file = makeBMP(width: 60_000, height: 60_000, bitsPerPixel: 1, tables: [0, 1], pixels: [0])
        let error = #expect(throws: EideticError.self) { _ = try decode(file) }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("3600000000") == true && error?.message.contains("134217728") == true)
    }

    @Test(
        "F07 invalid sizes, depths and masks are corrupt",
        arguments: [
            makeBMP(width: 0, height: 1, bitsPerPixel: 24, pixels: [0, 0, 0, 0]),
            makeBMP(width: 1, height: .min, bitsPerPixel: 24, pixels: [0, 0, 0, 0]),
            makeBMP(width: 1, height: 1, bitsPerPixel: 7, pixels: [0, 0, 0, 0]),
            makeBMP(width: 1, height: 1, bitsPerPixel: 32, compression: 3, tables: [5, 2, 1], pixels: [0, 0, 0, 0]),
            makeICO(images: []),
        ]
    )
    func corrupt(_ bytes: [UInt8]) throws {
        let error = #expect(throws: EideticError.self) { _ = try decode(bytes) }
        #expect(error?.code == .corrupt)
    }

    @Test("F02 rare codings are unsupported, not corrupt")
    func unsupported() throws {
        let file = makeBMP(width: 1, height: 1, bitsPerPixel: 24, compression: 4, pixels: [1, 0, 0, 0])
        let error = #expect(throws: EideticError.self) { _ = try decode(file) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test("F01 the header is known once its last byte is there, and not before")
    func early() throws {
        let file = makeBMP(width: 3, height: 5, bitsPerPixel: 24, pixels: [UInt8](repeating: 0, count: 60))
        #expect(try ImageDecoder.header(of: Array(file[..<53]), isComplete: false) == nil)
        #expect(try ImageDecoder.header(of: Array(file[..<54]), isComplete: false)?.size.height == 5)
    }
}
