import EideticCodecs
import EideticCore
import Testing

@Suite("Limits", .timeLimit(.minutes(5)))
struct LimitTests {
    private func decodingError(
        for bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits change: (inout DecodeLimits) -> Void = { _ in }
    ) -> EideticError? {
        var limits = DecodeLimits()
        change(&limits)
        do throws(EideticError) { _ = try ImageDecoder.decode(bytes, options: options, limits: limits) } catch {
            return error
        }
        return nil
    }

    @Test("F07 a deferred image that cannot be decoded fails without allocating its pixels")
    func deferredFailure() async {
        // Transparent pixels of this size would need more memory than the machine has.
        let size = PixelSize(width: 1 << 20, height: 1 << 20), error = EideticError(.corrupt, message: "corrupt")
        let deferred = DeferredImage(size: size) { _ throws(EideticError) in
            throw error
        } decodeShared: { _ throws(EideticError) in
            throw error
        }
        for _ in 0..<2 { #expect(throws: EideticError.self) { try deferred.image() } }
    }

    @Test(
        "F07 a huge image is refused by its header, with its size and the limit",
        arguments: [nil, PixelSize(width: 9, height: 9)]
    )
    func pixels(_ size: PixelSize?) {
        var png = PNGWriter(width: 50_000, height: 50_000)
        png.addPixels([0])
        let error = decodingError(for: png.finished, options: .with { $0.size = size })
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("2500000000") == true)
        #expect(error?.message.contains("134217728") == true)
    }

    @Test("F07 by default 256 MiB, 2^27 pixels, 5,000 frames and 30 s are the limits")
    func defaults() {
        let limits = DecodeLimits()
        #expect(limits.encodedBytes == ByteCount(268_435_456))
        #expect(limits.pixels == 134_217_728)
        #expect(limits.frames == 5_000)
        #expect(limits.duration == .seconds(30))
        #expect(limits == .standard)
    }

    @Test("F07 by default 4,999 and 5,000 frames are decoded, and 5,001 are refused")
    func defaultFrames() throws {
        let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
        func gif(frames: Int) -> [UInt8] { head + (0..<frames).flatMap { _ in frame } + [0x3b] }
        for count in [4_999, 5_000] {
            let image = try ImageDecoder.decode(gif(frames: count), options: .with { $0.frames = .all })
            #expect(image.frames.count == count)
        }
        let all = DecodeOptions.with { $0.frames = .all }
        #expect(decodingError(for: gif(frames: 5_001), options: all)?.code == .limitExceeded)
    }

    @Test("F07 the limit on frames does not refuse the still image of a longer animation")
    func stillOfManyFrames() throws {
        let gif = GIFWriter.everyDisposal(frameCount: 6_000)
        let image = try ImageDecoder.decode(gif, options: DecodeOptions())
        #expect(image.frames.count == 1)
        #expect(image.pixels[0, 0] == [255, 0, 0, 255])
    }

    @Test("F07 sizes that overflow are refused") func overflow() {
        var png = PNGWriter(width: 0x7fff_ffff, height: 0x7fff_ffff)
        png.addPixels([0])
        #expect(decodingError(for: png.finished)?.code == .limitExceeded)
        #expect(decodingError(for: png.finished) { $0.pixels = .max }?.code == .limitExceeded)
    }

    @Test("F07 each limit is inclusive", arguments: Fixture.everyFormat)
    func inclusive(_ fixture: Fixture) throws {
        let header = try #require(try ImageDecoder.header(of: fixture.bytes))
        let count = fixture.bytes.count, pixels = header.size.pixelCount
        #expect(
            decodingError(for: fixture.bytes) {
                $0.encodedBytes = ByteCount(count); $0.pixels = pixels
            } == nil
        )
        #expect(decodingError(for: fixture.bytes) { $0.encodedBytes = ByteCount(count - 1) }?.code == .limitExceeded)
        #expect(decodingError(for: fixture.bytes) { $0.pixels = pixels - 1 }?.code == .limitExceeded)
        guard header.frameCount > 1 else { return }
        let all = DecodeOptions.with { $0.frames = .all }
        #expect(decodingError(for: fixture.bytes, options: all) { $0.frames = header.frameCount } == nil)
        #expect(
            decodingError(for: fixture.bytes, options: all) { $0.frames = header.frameCount - 1 }?.code
                == .limitExceeded
        )
        #expect(decodingError(for: fixture.bytes) { $0.frames = 1 } == nil)
        let bytes = 4 * pixels * header.frameCount
        #expect(decodingError(for: fixture.bytes, options: all) { $0.animationBytes = ByteCount(bytes) } == nil)
        #expect(
            decodingError(for: fixture.bytes, options: all) { $0.animationBytes = ByteCount(bytes - 1) }?.code
                == .limitExceeded
        )
    }

    @Test("F07 a decode that takes too long stops", arguments: Fixture.everyFormat)
    func time(_ fixture: Fixture) {
        let error = decodingError(for: fixture.bytes) { $0.duration = .zero }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("longer than the limit") == true)
    }

    @Test(
        "F07 a decode that has begun in time stops when its time is over",
        arguments: [ImageFormat.jpeg, .png, .webp]
    )
    func stopsHalfway(_ format: ImageFormat) throws {
        let bytes = try Fixture.encode(try TestImages.photo(width: 3_000, height: 2_000), as: format)
        // It begins in time: no decoder needs less than a millisecond for six million pixels.
        #expect(decodingError(for: bytes) { $0.duration = .milliseconds(1) }?.code == .limitExceeded)
    }

    @Test("F07 a cancelled decode stops", arguments: Fixture.everyFormat)
    func cancelled(_ fixture: Fixture) {
        let context = JobContext()
        context.cancel()
        let refusalCode = errorCode { () throws(EideticError) in
            _ = try ImageDecoder.decode(fixture.bytes, options: DecodeOptions(), limits: .standard, context: context)
        }
        #expect(refusalCode == .cancelled)
    }

    @Test("F07 a frame far larger than its canvas is refused") func frameLargerThanCanvas() {
        var gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        gif += [0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 1, 0x44, 0, 0x3b]
        #expect(decodingError(for: gif)?.code == .limitExceeded)
    }
}
