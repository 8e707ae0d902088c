import EideticCodecs
import EideticCore
import Testing

@Suite("Encoding and decoding", .timeLimit(.minutes(5)))
struct RoundTripTests {
    private let straight = DecodeOptions.with { $0.premultipliesAlpha = false }

    @Test("F02 lossless formats preserve every byte", arguments: [ImageFormat.png, .webp])
    func lossless(_ format: ImageFormat) throws {
        for alpha in [PixelBuffer.Alpha.opaque, .straight] {
            let pixels = try TestImages.photo(width: 61, height: 47, alpha: alpha)
            let bytes = try Fixture.encode(pixels, as: format, quality: 1)
            let decoded = try ImageDecoder.decode(bytes, options: straight)
            #expect(decoded.format == format)
            #expect(decoded.pixels.alpha == alpha)
            let visible = zip(decoded.pixels.bytes, pixels.bytes).enumerated()
            // A codec may drop the colour of pixels with alpha 0.
            let differs = visible.contains { $1.0 != $1.1 && pixels.bytes[$0 | 3] != 0 }
            #expect(!differs)
        }
    }

    @Test("F02 lossy formats come close", arguments: [(ImageFormat.jpeg, 32.0), (.webp, 32.0)])
    func lossy(_ format: ImageFormat, minimumDecibels decibels: Double) throws {
        let pixels = try TestImages.photo(width: 128, height: 96)
        let decoded = try ImageDecoder.decode(try Fixture.encode(pixels, as: format)).pixels
        #expect(signalToNoiseRatio(decoded, pixels) > decibels)
        #expect(decoded.alpha == .opaque)
        let better = try ImageDecoder.decode(try Fixture.encode(pixels, as: format, quality: 0.95)).pixels
        #expect(signalToNoiseRatio(better, pixels) > signalToNoiseRatio(decoded, pixels))
    }

    @Test("F02 GIF preserves 256 colours exactly, of which transparency is one, and approximates more")
    func gif() throws {
        let opaque = try TestImages.makePixels(width: 16, height: 16, alpha: .opaque) { x, y in
            [UInt8(x * 16), UInt8(y * 15), 7, 255]
        }
        #expect(try ImageDecoder.decode(try Fixture.encode(opaque, as: .gif)).pixels.bytes == opaque.bytes)
        let paletted = try TestImages.makePixels(width: 15, height: 17, alpha: .straight) { x, y in
            x == y ? [0, 0, 0, 0] : [UInt8(x * 16), UInt8(y * 15), 7, 255]
        }
        #expect(
            try ImageDecoder.decode(try Fixture.encode(paletted, as: .gif), options: straight).pixels.bytes
                == paletted.bytes
        )
        let photo = try TestImages.photo(width: 128, height: 96)
        let decoded = try ImageDecoder.decode(try Fixture.encode(photo, as: .gif)).pixels
        #expect(signalToNoiseRatio(decoded, photo) > 30)
    }

    @Test("F02 JPEG composites transparent pixels on white") func jpegOnWhite() throws {
        let clear = try TestImages.solid(width: 16, height: 16, colour: [0, 0, 0, 51])
        let decoded = try ImageDecoder.decode(try Fixture.encode(clear, as: .jpeg, quality: 1)).pixels
        #expect(abs(Int(decoded[8, 8].x) - 204) <= 1)
    }

    @Test("F02 alpha is premultiplied by default, rounded to nearest") func premultiplied() throws {
        let pixels = try TestImages.makePixels(width: 256, height: 256, alpha: .straight) { x, y in
            [UInt8(x), 255, 0, UInt8(y)]
        }
        let decoded = try ImageDecoder.decode(try Fixture.encode(pixels, as: .png)).pixels
        #expect(decoded.alpha == .premultiplied)
        for y in 0..<256 {
            for x in 0..<256 {
                let expected = UInt8((Double(x) * Double(y) / 255).rounded())
                #expect(decoded[x, y] == SIMD4(expected, UInt8(y), 0, UInt8(y)))
            }
        }
    }

    @Test("F02 16-bit PNG samples are rounded to 8 bits, not truncated") func sixteenBits() throws {
        let samples = [0, 127, 128, 129, 385, 386, 32_767, 32_896, 65_406, 65_407, 65_535]
        var png = PNGWriter(width: samples.count, height: 1, depth: 16, colorType: 0)
        png.addPixels([0] + samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
        let decoded = try ImageDecoder.decode(png.finished).pixels
        for (x, sample) in samples.enumerated() {
            #expect(decoded[x, 0].x == UInt8((Double(sample) * 255 / 65_535).rounded()))
        }
    }

    @Test(
        "F02 all PNG filters, with one to four bytes per pixel",
        arguments: [(0, 1), (4, 2), (2, 3), (6, 4)]
    )
    func filters(colorType: UInt8, channels: Int) throws {
        var random = Generator(seed: UInt64(channels))
        let width = 9, height = 25
        let rows = (0..<height).map { _ in (0..<width * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        var png = PNGWriter(width: width, height: height, colorType: colorType)
        png.addPixels(rows.indices.flatMap { [UInt8($0 % 5)] + Self.filter(rows, row: $0, bytesPerPixel: channels) })
        let decoded = try ImageDecoder.decode(png.finished, options: straight).pixels
        for y in 0..<height {
            for x in 0..<width {
                let stored = Array(rows[y][x * channels..<(x + 1) * channels])
                let grey = channels < 3
                let alpha = channels % 2 == 0 ? stored[channels - 1] : 255
                let colour = grey ? [stored[0], stored[0], stored[0]] : Array(stored.prefix(3))
                #expect(decoded[x, y] == SIMD4(colour[0], colour[1], colour[2], alpha))
            }
        }
    }

    /// Returns one row after the filter `y % 5` (PNG, section 9.2).
    private static func filter(_ rows: [[UInt8]], row y: Int, bytesPerPixel pixel: Int) -> [UInt8] {
        rows[y].indices.map { index in
            let left = index >= pixel ? Int(rows[y][index - pixel]) : 0
            let above = y > 0 ? Int(rows[y - 1][index]) : 0
            let corner = y > 0 && index >= pixel ? Int(rows[y - 1][index - pixel]) : 0
            let estimate = left + above - corner
            let nearest = [left, above, corner].min { abs($0 - estimate) < abs($1 - estimate) } ?? 0
            let prediction = [0, left, above, (left + above) / 2, nearest][y % 5]
            return UInt8(truncatingIfNeeded: Int(rows[y][index]) - prediction)
        }
    }

    @Test("F02 a wrong chunk checksum of intact pixels is ignored, wrong pixels are not", arguments: [0, 1])
    func checksums(_ interlace: UInt8) throws {
        var png = PNGWriter(width: 1, height: 1, interlace: interlace)
        png.addChunk("IDAT", content: PNGWriter.zlibStream(of: [0, 1, 2, 3]), hasWrongChecksum: true)
        #expect(try ImageDecoder.decode(png.finished).pixels[0, 0] == SIMD4(1, 2, 3, 255))
        var wrong = PNGWriter(width: 1, height: 1, interlace: interlace)
        var stream = PNGWriter.zlibStream(of: [0, 1, 2, 3])
        stream[8] ^= 1
        wrong.addChunk("IDAT", content: stream, hasWrongChecksum: true)
        #expect(errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(wrong.finished) } == .corrupt)
    }

    @Test("F02 an image that a format cannot hold is an error") func unencodable() throws {
        let wide = TestImages.makeImage(try TestImages.solid(width: 70_000, height: 1, colour: [1, 2, 3, 255]))
        for format in [ImageFormat.jpeg, .webp, .gif] {
            #expect(
                errorCode { () throws(EideticError) in _ = try ImageEncoder.encode(wide, as: format) }
                    == .encodingFailed
            )
        }
        let image = TestImages.makeImage(try TestImages.solid(width: 1, height: 1, colour: [1, 2, 3, 255]))
        #expect(
            errorCode { () throws(EideticError) in _ = try ImageEncoder.encode(image, as: .tiff) } == .unsupportedFormat
        )
        #expect(
            errorCode { () throws(EideticError) in _ = try ImageEncoder.encode(image, as: .jpeg, quality: 1.1) }
                == .invalidArgument
        )
    }
}
