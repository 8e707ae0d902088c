import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Encoding with options", .timeLimit(.minutes(5)))
struct EncodingTests {
    private func encode(
        _ image: Image,
        as format: ImageFormat,
        change: (inout EncodeOptions) -> Void
    ) throws -> [UInt8] {
        var options = EncodeOptions()
        change(&options)
        return try ImageEncoder.encode(image, as: format, options: options)
    }

    @Test("F05 the image of a photograph comes close in the formats of HEIF", arguments: [false, true])
    func photographs(hasAlpha: Bool) throws {
        let pixels = try TestImages.photo(width: 131, height: 97, alpha: hasAlpha ? .straight : .opaque)
        let formats = [ImageFormat.avif, .heic].filter(ImageEncoder.supportedFormats.contains)
        for format in formats {
            let bytes = try Fixture.encode(pixels, as: format)
            let decoded = try ImageDecoder.decode(bytes, options: .with { $0.premultipliesAlpha = false })
            #expect(decoded.format == format && decoded.pixels.alpha == pixels.alpha)
            #expect(signalToNoiseRatio(try flat(decoded.pixels), try flat(pixels)) > 30, "\(format)")
            let better = try Fixture.encode(pixels, as: format, quality: 0.95)
            #expect(better.count > bytes.count)
        }
    }

    /// Returns the pixels on white, where the colour of transparent pixels does not count.
    private func flat(_ pixels: PixelBuffer) throws -> PixelBuffer {
        try ImageDecoder.decode(try Fixture.encode(pixels, as: .png)).pixels
    }

    @Test("F05 AVIF at a quality of 1 preserves every byte", arguments: [PixelBuffer.Alpha.opaque, .straight])
    func losslessAVIF(_ alpha: PixelBuffer.Alpha) throws {
        guard ImageEncoder.supportedFormats.contains(.avif) else { return }
        let pixels = try TestImages.photo(width: 61, height: 47, alpha: alpha)
        let decoded = try ImageDecoder.decode(
            try Fixture.encode(pixels, as: .avif, quality: 1),
            options: .with { $0.premultipliesAlpha = false }
        )
        #expect(decoded.pixels.bytes == pixels.bytes)
    }

    @Test("F05 a progressive JPEG has the pixels of any other, in several scans") func progressive() throws {
        let image = TestImages.makeImage(try TestImages.photo(width: 128, height: 96))
        let plain = try ImageEncoder.encode(image, as: .jpeg)
        let progressive = try encode(image, as: .jpeg) { $0.isProgressive = true }
        func scans(in bytes: [UInt8]) -> Int { zip(bytes, bytes.dropFirst()).filter { $0 == (0xff, 0xda) }.count }
        #expect(scans(in: plain) == 1 && scans(in: progressive) > 3)
        #expect(try ImageDecoder.decode(progressive).pixels.bytes == ImageDecoder.decode(plain).pixels.bytes)
    }

    @Test("F05 transparent parts have the background's colour in JPEG") func background() throws {
        let clear = TestImages.makeImage(try TestImages.solid(width: 16, height: 16, colour: [0, 0, 0, 51]))
        let bytes = try encode(clear, as: .jpeg) {
            ($0.quality, $0.background) = (1, ImageColor(red: 250, green: 100, blue: 0, alpha: 7))
        }
        let pixel = try ImageDecoder.decode(bytes).pixels[8, 8]
        #expect(abs(Int(pixel.x) - 200) <= 2 && abs(Int(pixel.y) - 80) <= 2 && pixel.z <= 2)
    }

    @Test(
        "F05 an image larger than the limit of pixels is scaled down in its proportions",
        arguments: [(99, 79, 99, 79), (100, 80, 100, 80), (101, 81, 100, 80), (50, 1_000, 50, 40)]
    )
    func maximumSize(width: Int, height: Int, expectedWidth: Int, expectedHeight: Int) throws {
        let frames = try (0..<2).map { try TestImages.photo(width: 100, height: 80 + 0 * $0) }
        let image = TestImages.makeImage(frames[0], frames[1], milliseconds: [50, 60])
        for format in [ImageFormat.png, .jpeg] {
            let bytes = try encode(image, as: format) { $0.maximumSize = PixelSize(width: width, height: height) }
            let header = try #require(try ImageDecoder.header(of: bytes))
            #expect(header.size == PixelSize(width: expectedWidth, height: expectedHeight))
            #expect(header.frameCount == (format == .png ? 2 : 1))
        }
    }

    @Test("F05 limits that are not positive, and a quality out of range, are errors") func invalid() throws {
        let image = TestImages.makeImage(try TestImages.photo(width: 4, height: 4))
        let changes: [(inout EncodeOptions) -> Void] = [
            { $0.quality = -0.01 }, { $0.quality = .nan }, { $0.maximumByteCount = .zero },
            { $0.maximumSize = PixelSize(width: 0, height: 5) },
        ]
        for change in changes {
            var options = EncodeOptions()
            change(&options)
            #expect(
                errorCode { () throws(EideticError) in
                    _ = try ImageEncoder.encode(image, as: .jpeg, options: options)
                } == .invalidArgument
            )
        }
    }
}
