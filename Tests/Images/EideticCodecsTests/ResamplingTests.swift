import EideticCodecs
import EideticCore
import Testing

@Suite("Decoding to a size", .timeLimit(.minutes(5)))
struct ResamplingTests {
    @Test("F04 a uniform image stays uniform at any size") func uniform() throws {
        for colour in [[200, 100, 50, 255], [255, 255, 255, 255], [0, 0, 0, 255], [255, 0, 100, 128]] as [[UInt8]] {
            let pixels = try TestImages.solid(width: 97, height: 61, colour: colour)
            let expected = try Resampler.resample(pixels, to: PixelSize(width: 96, height: 61))[0, 0]
            for size in [(96, 60), (48, 31), (10, 60), (97, 3), (1, 1)] {
                let small = try Resampler.resample(pixels, to: PixelSize(width: size.0, height: size.1))
                let isEven = stride(from: 0, to: small.bytes.count, by: 4).allSatisfy { start in
                    (0..<4).allSatisfy { small.bytes[start + $0] == expected[$0] }
                }
                #expect(isEven, "\(colour) at \(size)")
            }
        }
    }

    @Test("F04 the colour of transparent pixels does not bleed") func alpha() throws {
        let pixels = try TestImages.makePixels(width: 64, height: 64, alpha: .straight) { x, _ in
            x < 32 ? [255, 0, 0, 255] : [0, 255, 0, 0]
        }
        for width in [3, 20, 33, 63] {
            let small = try Resampler.resample(pixels, to: PixelSize(width: width, height: width))
            #expect(small.alpha == .premultiplied)
            for x in 0..<width {
                let pixel = small[x, width / 2]
                #expect(pixel.y == 0 && pixel.x == pixel.w, "\(pixel) at \(x) of \(width)")
            }
        }
    }

    @Test(
        "F04 the rows of a wide image, few of which are filtered at a time, are those of a narrow one",
        arguments: [(5_000, 599), (4_096, 400), (3_001, 17), (2_050, 1_201), (9_000, 1)]
    )
    func window(width: Int, height: Int) throws {
        func rows(width: Int, of targetWidth: Int) throws -> [SIMD4<UInt8>] {
            let pixels = try TestImages.makePixels(width: width, height: 600, alpha: .opaque) { _, y in
                [UInt8(truncatingIfNeeded: y &* 97), UInt8(y / 3), UInt8(y % 2 * 255), 255]
            }
            let small = try Resampler.resample(pixels, to: PixelSize(width: targetWidth, height: height))
            return (0..<height).map { small[targetWidth / 2, $0] }
        }
        #expect(try rows(width: width + 1, of: width) == rows(width: 5, of: 4))
    }

    @Test("F04 a mirrored image is scaled to a mirrored one", arguments: [149, 131, 120, 200, 301])
    func mirrored(width: Int) throws {
        func small(mirrored: Bool) throws -> [SIMD4<UInt8>] {
            let pixels = try TestImages.makePixels(width: 150, height: 4, alpha: .opaque) { x, y in
                let x = mirrored ? 149 - x : x
                return [UInt8(truncatingIfNeeded: x &* x &* 31), UInt8(x % 2 * 255), UInt8(x / 3 % 2 * 255), 255]
            }
            let small = try Resampler.resample(pixels, to: PixelSize(width: width, height: 4))
            return (0..<width).map { small[mirrored ? width - 1 - $0 : $0, 1] }
        }
        // The remainder of a sum of weights goes to the first one of those that are equal.
        let differences = zip(try small(mirrored: false), try small(mirrored: true)).map { first, second in
            (0..<4).map { abs(Int(first[$0]) - Int(second[$0])) }.max() ?? 0
        }
        #expect(differences.allSatisfy { $0 <= 1 }, "\(differences)")
    }

    @Test("F04 rows that are filtered together are those that are filtered one by one", arguments: 1...9)
    func rowsTogether(height: Int) throws {
        for (width, target) in [(64, 63), (64, 40), (90, 33), (97, 25), (200, 9), (7, 3), (3, 2), (300, 290)] {
            // Pixels with alpha are multiplied by it first, row by row.
            let results = try [PixelBuffer.Alpha.opaque, .straight].map { alpha in
                let pixels = try TestImages.makePixels(width: width, height: height, alpha: alpha) { x, y in
                    let (red, green) = (UInt8(truncatingIfNeeded: x * 73 + y * 31), UInt8(truncatingIfNeeded: x * y))
                    return [red, green, UInt8(y * 20), 255]
                }
                let small = try Resampler.resample(pixels, to: PixelSize(width: target, height: height))
                return small.withUnsafeBytes(Array.init)
            }
            #expect(results[0] == results[1], "\(width) to \(target)")
        }
    }

    @Test(
        "F04 scaling down agrees with a filter in full precision",
        arguments: [(40, 30), (90, 40), (33, 75), (13, 9)]
    )
    func precision(width: Int, height: Int) throws {
        let pixels = try TestImages.photo(width: 200, height: 150)
        let size = PixelSize(width: width, height: height)
        let small = try Resampler.resample(pixels, to: size)
        #expect(signalToNoiseRatio(small, try ReferenceLanczos.resample(pixels, to: size)) > 44)
    }

    @Test("F04 a JPEG decoded to a tenth is as good as one decoded in full and then scaled down") func scaledJPEG()
        throws
    {
        let bytes = try Fixture.encode(try TestImages.photo(width: 1_000, height: 750), as: .jpeg, quality: 0.9)
        let size = PixelSize(width: 100, height: 75)
        let small = try ImageDecoder.decode(bytes, options: .with { $0.size = size })
        let reference = try ReferenceLanczos.resample(try ImageDecoder.decode(bytes).pixels, to: size)
        #expect(small.size == size)
        #expect(small.sourceSize == PixelSize(width: 1_000, height: 750))
        #expect(signalToNoiseRatio(small.pixels, reference) > 45)
    }

    @Test(
        "F04 a JPEG or a lossy WebP decoded to an eighth reserves less than a quarter of the memory",
        arguments: [ImageFormat.jpeg, .webp]
    )
    func scaledMemory(format: ImageFormat) throws {
        let bytes = try Fixture.encode(try TestImages.photo(width: 1_600, height: 1_200), as: format, quality: 0.9)
        let small = DecodeOptions.with { $0.size = PixelSize(width: 200, height: 150) }
        let memory = try [DecodeOptions(), small].map {
            try ImageDecoder.workingMemory(for: bytes, options: $0, limits: .standard)
        }
        #expect(memory[1] * 4 < memory[0], "\(memory)")
    }

    @Test("F04 every format is decoded to the target size", arguments: Fixture.everyFormat)
    func allFormats(_ fixture: Fixture) throws {
        let header = try #require(try ImageDecoder.header(of: fixture.bytes))
        // Only vector images are enlarged.
        let factor = header.format == .svg ? 1_024 : 1
        let maximumSize = PixelSize(width: factor * header.size.width, height: factor * header.size.height)
        for targetSize in [
            PixelSize(width: 9, height: 9), PixelSize(width: 1, height: 100), PixelSize(width: 500, height: 2),
        ] {
            for mode in [ContentMode.fit, .fillCropped(), .fill, .stretch] {
                let options = DecodeOptions.with {
                    $0.size = targetSize; $0.contentMode = mode; $0.frames = .all
                }
                let image = try ImageDecoder.decode(fixture.bytes, options: options)
                #expect(image.size == maximumSize.scaled(to: targetSize, mode: mode))
                #expect(image.frames.count == header.frameCount)
            }
        }
    }

    @Test("F04 a byte limit scales every format down, and keeps the aspect ratio", arguments: Fixture.everyFormat)
    func byteLimit(_ fixture: Fixture) throws {
        for limit in [1, 3, 100, 1_000] {
            let options = DecodeOptions.with {
                $0.byteLimit = ByteCount(limit); $0.frames = .all
            }
            let image = try ImageDecoder.decode(fixture.bytes, options: options)
            #expect(image.cost.bytes <= max(limit, 4 * image.frames.count))
        }
        let fullImage = try ImageDecoder.decode(fixture.bytes)
        let roomy = try ImageDecoder.decode(fixture.bytes, options: .with { $0.byteLimit = fullImage.cost })
        #expect(roomy.size == fullImage.size)
    }
}
