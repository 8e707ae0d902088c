import EideticCodecs
import EideticCore
import Testing

@Suite("Orientation", .timeLimit(.minutes(5)))
struct OrientationTests {
    /// The stored position of the upright pixel (x, y) in an image of 3 x 2, by orientation.
    private static let storedPositions: [ImageOrientation: @Sendable (Int, Int) -> (Int, Int)] = [
        .up: { ($0, $1) }, .upMirrored: { (2 - $0, $1) }, .down: { (2 - $0, 1 - $1) }, .downMirrored: { ($0, 1 - $1) },
        .leftMirrored: { ($1, $0) }, .right: { ($1, 1 - $0) }, .rightMirrored: { (2 - $1, 1 - $0) },
        .left: { (2 - $1, $0) },
    ]

    /// The colour of a stored pixel, another one at each position.
    private static func color(x: Int, y: Int) -> SIMD4<UInt8> {
        let high = 16 * (x >> 8) + y >> 8
        return SIMD4(UInt8(x & 255), UInt8(y & 255), UInt8(high), 255)
    }

    /// Returns a PNG of six different pixels with an EXIF block.
    private static func png(exif: [UInt8]) -> [UInt8] {
        var png = PNGWriter(width: 3, height: 2, colorType: 0)
        png.addChunk("eXIf", content: exif)
        png.addPixels([0, 0, 10, 20, 0, 30, 40, 50])
        return png.finished
    }

    static func exif(orientation value: UInt8, isLittleEndian: Bool) -> [UInt8] {
        isLittleEndian
            ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0]
            : [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }

    @Test("F02 an image is rotated upright once", arguments: ImageOrientation.allCases)
    func oriented(_ orientation: ImageOrientation) throws {
        let storedPosition = try #require(Self.storedPositions[orientation])
        for isLittle in [true, false] {
            let bytes = Self.png(exif: Self.exif(orientation: UInt8(orientation.rawValue), isLittleEndian: isLittle))
            #expect(try ImageDecoder.header(of: bytes)?.orientation == orientation)
            let image = try ImageDecoder.decode(bytes)
            #expect(
                image.size
                    == PixelSize(
                        width: orientation.swapsDimensions ? 2 : 3,
                        height: orientation.swapsDimensions ? 3 : 2
                    )
            )
            #expect(image.sourceSize == image.size)
            for y in 0..<image.size.height {
                for x in 0..<image.size.width {
                    let (storedX, storedY) = storedPosition(x, y)
                    #expect(image.pixels[x, y].x == UInt8(10 * (3 * storedY + storedX)))
                }
            }
        }
    }

    @Test(
        "F02 every pixel is at its place, also at the ends of rows and where several processors share the work",
        arguments: ImageOrientation.allCases,
        [(1, 1), (3, 5), (4, 4), (17, 16), (33, 19), (601, 443)]
    )
    func everyPixel(_ orientation: ImageOrientation, sides: (width: Int, height: Int)) throws {
        var png = PNGWriter(width: sides.width, height: sides.height, colorType: 2)
        png.addChunk("eXIf", content: Self.exif(orientation: UInt8(orientation.rawValue), isLittleEndian: true))
        var rows: [UInt8] = []
        for y in 0..<sides.height {
            rows.append(0)
            for x in 0..<sides.width {
                let color = Self.color(x: x, y: y)
                rows += [color.x, color.y, color.z]
            }
        }
        png.addPixels(rows)
        let pixels = try ImageDecoder.decode(png.finished).pixels
        let last = (x: sides.width - 1, y: sides.height - 1)
        // The stored position, as in the table above, in an image of this size.
        let stored: [ImageOrientation: (Int, Int) -> (Int, Int)] = [
            .up: { ($0, $1) }, .upMirrored: { (last.x - $0, $1) }, .down: { (last.x - $0, last.y - $1) },
            .downMirrored: { ($0, last.y - $1) }, .leftMirrored: { ($1, $0) }, .right: { ($1, last.y - $0) },
            .rightMirrored: { (last.x - $1, last.y - $0) }, .left: { (last.x - $1, $0) },
        ]
        let position = try #require(stored[orientation])
        var wrongCount = 0
        for y in 0..<pixels.size.height {
            for x in 0..<pixels.size.width {
                let (column, row) = position(x, y)
                if pixels[x, y] != Self.color(x: column, y: row) { wrongCount += 1 }
            }
        }
        #expect(wrongCount == 0)
    }

    @Test("F02 pixels stay as stored if the options disable the orientation") func untouched() throws {
        let bytes = Self.png(exif: Self.exif(orientation: 6, isLittleEndian: true))
        let image = try ImageDecoder.decode(bytes, options: .with { $0.appliesOrientation = false })
        #expect(image.size == PixelSize(width: 3, height: 2))
        #expect(image.pixels[1, 0].x == 10)
    }

    @Test("F04 the target size is that of the upright image") func sized() throws {
        let bytes = Self.jpeg(
            try TestImages.photo(width: 120, height: 60),
            exif: Self.exif(orientation: 6, isLittleEndian: false)
        )
        let options = DecodeOptions.with { $0.size = PixelSize(width: 20, height: 100) }
        #expect(try ImageDecoder.decode(bytes, options: options).size == PixelSize(width: 20, height: 40))
    }

    @Test("F02 an invalid EXIF block or orientation is ignored")
    func invalidEXIF() throws {
        let good = Self.exif(orientation: 6, isLittleEndian: true)
        for value in [0, 9, 255] as [UInt8] {
            #expect(
                try ImageDecoder.header(of: Self.png(exif: Self.exif(orientation: value, isLittleEndian: true)))?
                    .orientation == .up
            )
        }
        // As in Chromium 156: one value, of type short.
        for (index, byte) in [(12, 4), (14, 0), (14, 2)] as [(Int, UInt8)] {
            var other = good
            other[index] = byte
            #expect(try ImageDecoder.header(of: Self.png(exif: other))?.orientation == .up)
        }
        for length in 0..<20 {
            #expect(try ImageDecoder.header(of: Self.png(exif: Array(good.prefix(length))))?.orientation == .up)
        }
        var outside = good
        outside.replaceSubrange(4..<8, with: [255, 255, 255, 255])
        #expect(try ImageDecoder.header(of: Self.png(exif: outside))?.orientation == .up)
    }

    @Test("F02 TIFF applies each of the eight orientations of its tag, once", arguments: 1...8)
    func tiff(orientation: Int) throws {
        let (width, height) = (3, 2)
        let samples = (0..<6).flatMap { (index: Int) -> [UInt8] in
            [UInt8(index * 40), UInt8(200 - index * 30), UInt8(index)]
        }
        var page = TIFFPage(width: width, height: height, bits: [8, 8, 8], photometric: 2, strips: [samples])
        page.set(274, as: .short, to: [orientation])
        let stored = try ImageDecoder.decode(page.finished, options: .with { $0.appliesOrientation = false }).pixels
        #expect(stored.size == PixelSize(width: width, height: height))
        let upright = try ImageDecoder.decode(page.finished).pixels, isTurned = orientation > 4
        #expect(upright.size == PixelSize(width: isTurned ? height : width, height: isTurned ? width : height))
        for y in 0..<upright.size.height {
            for x in 0..<upright.size.width {
                let (right, bottom) = (width - 1, height - 1)
                let places: [(Int, Int)] = [
                    (x, y), (right - x, y), (right - x, bottom - y), (x, bottom - y), (y, x), (y, bottom - x),
                    (right - y, bottom - x), (right - y, x),
                ]
                let place = places[orientation - 1]
                #expect(upright[x, y] == stored[place.0, place.1], "\(x), \(y)")
            }
        }
    }

    @Test("F02 JPEG and WebP apply the orientation of their EXIF blocks") func otherFormats() throws {
        let pixels = try TestImages.photo(width: 48, height: 32), exif = Self.exif(orientation: 8, isLittleEndian: true)
        for bytes in [Self.jpeg(pixels, exif: exif), try Self.webp(pixels, exif: exif)] {
            let header = try #require(try ImageDecoder.header(of: bytes))
            #expect(header.orientation == .left)
            #expect(header.uprightSize == PixelSize(width: 32, height: 48))
            let turned = try ImageDecoder.decode(bytes).pixels
            let stored = try ImageDecoder.decode(bytes, options: .with { $0.appliesOrientation = false }).pixels
            #expect(turned[3, 5] == stored[47 - 5, 3])
        }
    }

    private static func jpeg(_ pixels: PixelBuffer, exif: [UInt8]) -> [UInt8] {
        guard let plain = try? Fixture.encode(pixels, as: .jpeg) else { return [] }
        let body = Array("Exif\0\0".utf8) + exif
        return plain.prefix(2) + [0xff, 0xe1, 0, UInt8(body.count + 2)] + body + plain.dropFirst(2)
    }

    /// Returns an extended file with the single chunk of a simple one.
    private static func webp(_ pixels: PixelBuffer, exif: [UInt8]) throws -> [UInt8] {
        let plain = try Fixture.encode(pixels, as: .webp)
        func chunk(_ name: String, body: [UInt8]) -> [UInt8] {
            Array(name.utf8) + [UInt8(body.count), 0, 0, 0] + body
        }
        let size = [UInt8(pixels.size.width - 1), 0, 0, UInt8(pixels.size.height - 1), 0, 0]
        let chunks = chunk("VP8X", body: [8, 0, 0, 0] + size) + plain.dropFirst(12) + chunk("EXIF", body: exif)
        let count = chunks.count + 4
        return Array("RIFF".utf8) + [UInt8(count & 255), UInt8(count >> 8), 0, 0] + Array("WEBP".utf8) + chunks
    }
}
