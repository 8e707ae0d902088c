import EideticCodecs
import EideticCore
import Testing

@Suite("Encoding animations", .timeLimit(.minutes(5)))
struct AnimationEncodingTests {
    private static let formats = ImageEncoder.animatedFormats
    private let all = DecodeOptions.with { $0.frames = .all }

    private static func animation(loopCount: Int?, alpha: PixelBuffer.Alpha = .opaque) throws -> Image {
        let frames = try [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]].enumerated().map { index, colour in
            try TestImages.makePixels(width: 32, height: 24, alpha: alpha) { x, _ in
                alpha == .straight && x / 8 == index ? [0, 0, 0, 0] : colour.map { UInt8($0) }
            }
        }
        return TestImages.makeImage(
            frames[0],
            frames[1],
            frames[2],
            loopCount: loopCount,
            milliseconds: [40, 250, 1_500]
        )
    }

    @Test("F05 frames, durations and loop counts survive every pair of formats", arguments: formats, formats)
    func pairs(first: ImageFormat, second: ImageFormat) throws {
        for (alpha, loopCount) in [(PixelBuffer.Alpha.opaque, nil), (.opaque, 1), (.straight, 7)] {
            let source = try Self.animation(loopCount: loopCount, alpha: alpha)
            let once = try ImageDecoder.decode(try ImageEncoder.encode(source, as: first), options: all)
            let twice = try ImageDecoder.decode(try ImageEncoder.encode(once, as: second), options: all)
            #expect(twice.format == second && twice.loopCount == loopCount)
            #expect(twice.frames.map(\.duration) == source.frames.map(\.duration))
            for (result, frame) in zip(twice.frames, source.frames) {
                for x in [4, 12, 20, 28] {
                    let expected = frame.pixels[x, 12], actual = result.pixels[x, 12]
                    let isNear = (0..<4).allSatisfy { abs(Int(expected[$0]) - Int(actual[$0])) < 24 }
                    #expect(isNear, "\(alpha) \(x): \(actual), not \(expected)")
                }
            }
        }
    }

    @Test("F05 the loop count of an animation is in its header", arguments: formats, [nil, 1, 2, 7, 65_535])
    func loops(format: ImageFormat, loopCount: Int?) throws {
        let bytes = try ImageEncoder.encode(try Self.animation(loopCount: loopCount), as: format)
        #expect(try ImageDecoder.decode(bytes, options: all).loopCount == loopCount)
        #expect(try ImageDecoder.header(of: bytes)?.loopCount == loopCount)
    }

    @Test("F05 metadata and loop count of an AVIF sequence are in one file") func metadataOfSequence() throws {
        guard Self.formats.contains(.avif) else { return }
        var options = EncodeOptions()
        options.metadata = ImageMetadata(xmp: Array("<x:xmpmeta/>".utf8))
        let bytes = try ImageEncoder.encode(try Self.animation(loopCount: 3), as: .avif, options: options)
        #expect(try ImageMetadata(of: bytes).xmp == options.metadata?.xmp)
        #expect(try ImageDecoder.header(of: bytes)?.loopCount == 3)
    }

    /// Returns the delays in the control blocks of a GIF, in hundredths of a second.
    private static func delays(of durations: [Int]) throws -> [Int] {
        let frames = try durations.indices.map { index in
            try TestImages.makePixels(width: 2, height: 2, alpha: .opaque) { _, _ in [UInt8(index), 0, 0, 255] }
        }
        let image = Image(
            frames: zip(frames, durations).map { Image.Frame(pixels: $0, duration: .milliseconds($1)) },
            loopCount: nil,
            format: .png,
            sourceSize: frames[0].size
        )
        let gif = try ImageEncoder.encode(image, as: .gif)
        return gif.indices.dropLast(8).filter { gif[$0...].starts(with: [0x21, 0xf9, 4]) }
            .map { Int(gif[$0 + 4]) | Int(gif[$0 + 5]) << 8 }
    }

    @Test(
        "F05 no delay in a GIF is below 2, which players take for 10, and the sum is that of the durations",
        arguments: [
            Array(repeating: 12, count: 30), Array(repeating: 33, count: 100), Array(repeating: 16, count: 60),
            [5, 5, 5], [100, 3], [3, 100], [12, 40, 12, 12], [10, 70],
        ]
    )
    func delays(durations: [Int]) throws {
        let delays = try Self.delays(of: durations)
        #expect(delays.allSatisfy { $0 >= 2 }, "\(delays)")
        #expect(abs(10 * delays.reduce(0, +) - durations.reduce(0, +)) <= 10, "\(delays)")
    }

    @Test("F05 the frames of a GIF that have time are all there") func keptFrames() throws {
        #expect(try Self.delays(of: [33, 33, 33, 33]) == [3, 3, 3, 4])
        #expect(try Self.delays(of: [10, 70]) == [2, 6])
        #expect(try Self.delays(of: [0, 0, 0]) == [0, 0, 0])
    }

    @Test("F05 formats without animations have the first frame")
    func stills() throws {
        let source = try Self.animation(loopCount: 2)
        for format in ImageEncoder.supportedFormats where !Self.formats.contains(format) {
            let image = try ImageDecoder.decode(try ImageEncoder.encode(source, as: format), options: all)
            #expect(image.frames.count == 1 && image.pixels[9, 9].x > 240, "\(format)")
        }
    }

    @Test("F05 lossless animations preserve every byte", arguments: [ImageFormat.png, .webp])
    func lossless(_ format: ImageFormat) throws {
        let frames = try [1, 2].map { step in
            try TestImages.makePixels(width: 37, height: 23, alpha: .straight) { x, y in
                [UInt8(x * 5), UInt8(y * 9), UInt8(x * y * step & 255), UInt8(255 - x)]
            }
        }
        let source = TestImages.makeImage(frames[0], frames[1], milliseconds: [20, 30])
        let options = DecodeOptions.with { ($0.frames, $0.premultipliesAlpha) = (.all, false) }
        let result = try ImageDecoder.decode(try ImageEncoder.encode(source, as: format, quality: 1), options: options)
        #expect(result.frames.map(\.pixels.bytes) == frames.map(\.bytes))
    }
}
