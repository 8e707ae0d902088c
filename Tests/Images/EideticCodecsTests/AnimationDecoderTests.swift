import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// Frames that are decoded one by one, against those that are decoded together.
@Suite("Frames by number", .timeLimit(.minutes(5)))
struct AnimationDecoderTests {
    /// Animations of every format, and with every kind of disposal and blending.
    static let animations: [Fixture] = {
        do {
            let made = try ImageEncoder.animatedFormats.map { format in
                Fixture(
                    name: "\(format) of 23 frames",
                    format: format,
                    bytes: try ImageEncoder.encode(try movingImage(frameCount: 23), as: format)
                )
            }
            return made + [
                Fixture(name: "gif disposals", format: .gif, bytes: GIFWriter.everyDisposal(frameCount: 40)),
                Fixture(name: "apng", format: .png, bytes: APNGFixtures.threeFrames),
            ]
        } catch { fatalError("a fixture could not be created: \(error)") }
    }()

    static func movingImage(frameCount: Int) throws -> Image {
        let frames = try (0..<frameCount).map { index in
            let pixels = try TestImages.makePixels(width: 32, height: 20, alpha: .straight) { x, y in
                (x + y + index) % 9 == 0 ? [0, 0, 0, 0] : [UInt8(8 * x), UInt8(10 * y), UInt8(6 * index), 255]
            }
            return Image.Frame(pixels: pixels, duration: .milliseconds(20 + 10 * index))
        }
        return Image(frames: frames, loopCount: 3, format: .png, sourceSize: PixelSize(width: 32, height: 20))
    }

    #if JPEGXL
    /// Animations of JPEG XL in the corpus.
    static let jpegXLFiles = [
        "jxl-features/features/animation_progressive.jxl", "jxl-features/features/animation_frame_indexed.jxl",
        "libgd/animation_distance_0_0.jxl", "libgd/fuzzing/corpus/jxl/cropped_traffic_light.jxl",
    ]

    @Test(
        "F03 the frames of an animation of JPEG XL by number, in every order",
        .needsCorpus,
        arguments: jpegXLFiles
    )
    func jpegXL(_ path: String) throws {
        let bytes = try Corpus.bytes(of: path), expected = try allFrames(of: bytes)
        #expect(expected.count == 4)
        let source = try decoder(bytes)
        #expect(source.info.frameCount == 4 && source.info.isComplete)
        for index in [0, 1, 2, 3, 2, 0, 3, 1, 1] {
            let pixels = try source.frame(at: index, context: JobContext())
            #expect(pixels.bytes == expected[index].pixels.bytes, "frame \(index)")
        }
    }

    @Test(
        "F03 L10 the frames of an animation of JPEG XL come as their bytes do, whatever the pieces",
        .needsCorpus,
        arguments: jpegXLFiles,
        [1, 37, 500]
    )
    func jpegXLPieces(_ path: String, length: Int) throws {
        let fixture = Fixture(name: path, format: .jpegxl, bytes: try Corpus.bytes(of: path))
        try pieces(fixture, length: length)
    }

    @Test("L10 the first frame of an animation of JPEG XL is there before the bytes of the others", .needsCorpus)
    func jpegXLFirstFrame() throws {
        let bytes = try Corpus.bytes(of: Self.jpegXLFiles[0])
        #expect(AnimationDecoder.isAnimation(bytes) == true && AnimationDecoder.isAnimation([0xff, 0x0a]) == nil)
        let needed = (1...bytes.count).first { count in
            let head = Array(bytes.prefix(count))
            return (try? AnimationDecoder(head, isComplete: false, options: .init(), limits: .standard)) != nil
        }
        #expect(try #require(needed) < bytes.count * 3 / 4, "\(String(describing: needed)) of \(bytes.count)")
    }
    #endif

    private func decoder(_ bytes: [UInt8], copies: Int = 0, options: DecodeOptions = .init()) throws -> AnimationDecoder
    {
        try #require(
            try AnimationDecoder(
                bytes,
                isComplete: true,
                options: options,
                maximumCopyBytes: copies,
                limits: .standard
            )
        )
    }

    private func allFrames(of bytes: [UInt8], options: DecodeOptions = .init()) throws -> [Image.Frame] {
        try ImageDecoder.decode(bytes, options: .with(options) { $0.frames = .all }).frames
    }

    private static var profileChunk: ArraySlice<UInt8> {
        var png = PNGWriter(width: 1, height: 1)
        let start = png.bytes.count, profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 1.8)
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + PNGWriter.zlibStream(of: profile))
        return png.bytes[start...]
    }

    @Test(
        "F03 colours of frames with little alpha are exact, premultiplied or not, with a profile and without",
        arguments: [true, false],
        [true, false]
    )
    func colours(premultiplies: Bool, hasProfile: Bool) throws {
        let pixels = try TestImages.makePixels(width: 9, height: 7, alpha: .straight) { x, y in
            [UInt8(20 * x), UInt8(30 * y), 200, UInt8(1 + x + y)]
        }
        let frames = [Image.Frame(pixels: pixels, duration: .milliseconds(50))]
        let image = Image(frames: frames + frames, format: .png, sourceSize: pixels.size)
        let options = DecodeOptions.with { $0.premultipliesAlpha = premultiplies }
        var bytes = try ImageEncoder.encode(image, as: .png)
        if hasProfile {
            // In the place of the chunk sRGB, which has one byte.
            let start = try #require(bytes.firstRange(of: Array("sRGB".utf8))).lowerBound - 4
            bytes.replaceSubrange(start..<start + 13, with: Self.profileChunk)
        }
        let decoded = try decoder(bytes, options: options).frame(at: 1, context: JobContext())
        #expect(decoded.bytes == (try allFrames(of: bytes, options: options))[1].pixels.bytes)
        if !premultiplies, !hasProfile { #expect(decoded.bytes == pixels.bytes) }
    }

    @Test(
        "F03 any frame by number is the frame of a whole decode, in every order",
        arguments: animations,
        [0, 1 << 20]
    )
    func everyOrder(_ fixture: Fixture, copies: Int) throws {
        let expected = try allFrames(of: fixture.bytes)
        let count = expected.count, source = try decoder(fixture.bytes, copies: copies)
        #expect(source.info.frameCount == count && source.info.isComplete)
        #expect(
            source.info.durations == expected.map { $0.duration < .milliseconds(11) ? .milliseconds(100) : $0.duration }
        )
        var generator = Generator(seed: 7)
        let random = (0..<60).map { _ in Int.random(in: 0..<count, using: &generator) }
        for index in Array(0..<count) + (0..<count).reversed() + random {
            let pixels = try source.frame(at: index, context: JobContext())
            #expect(pixels.bytes == expected[index].pixels.bytes, "frame \(index)")
            #expect(pixels.alpha == expected[index].pixels.alpha)
        }
    }

    @Test(
        "F03 the frames of every animation of the corpus",
        .needsCorpus,
        arguments: GroundTruth.files(of: [.gif, .png, .webp, .avif], kinds: ["wellformed"]).filter {
            $0.bytes < 300_000 && ($0.size?.pixelCount ?? 0) < 1 << 17
        }
    )
    func corpus(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        let expected = try allFrames(of: bytes)
        guard expected.count > 1 else { return }
        let source = try decoder(bytes, copies: 1 << 20)
        #expect(source.info.frameCount == expected.count)
        for index in Array(expected.indices.prefix(40)) + expected.indices.prefix(40).reversed() {
            let pixels = try source.frame(at: index, context: JobContext())
            #expect(pixels.bytes == expected[index].pixels.bytes, "frame \(index)")
        }
    }

    @Test("F03 F04 frames by number are decoded to a size", arguments: animations)
    func sizes(_ fixture: Fixture) throws {
        var options = DecodeOptions()
        options.size = PixelSize(width: 9, height: 9)
        options.contentMode = .fillCropped()
        let expected = try allFrames(of: fixture.bytes, options: options)
        let source = try decoder(fixture.bytes, options: options)
        for index in expected.indices.reversed() {
            #expect(try source.frame(at: index, context: JobContext()).bytes == expected[index].pixels.bytes)
        }
        #expect(source.info.size == expected[0].pixels.size)
    }

    @Test(
        "F03 L10 frames come as their bytes do, whatever the pieces",
        arguments: animations,
        Torture.isFull ? [1, 37, 500] : [7, 500]
    )
    func pieces(_ fixture: Fixture, length: Int) throws {
        let bytes = fixture.bytes, expected = try allFrames(of: bytes)
        var source: AnimationDecoder?
        var count = 0, next = 0, sent = 0
        while sent < bytes.count {
            let piece = Array(bytes[sent..<min(bytes.count, sent + length)])
            sent += piece.count
            if let source {
                count = try source.append(piece, isComplete: sent == bytes.count).frameCount
            } else {
                source = try AnimationDecoder(
                    Array(bytes.prefix(sent)),
                    isComplete: sent == bytes.count,
                    options: .init(),
                    limits: .standard
                )
                count = source?.info.frameCount ?? 0
            }
            while next < count {
                let pixels = try #require(source).frame(at: next, context: JobContext())
                #expect(pixels.bytes == expected[next].pixels.bytes, "frame \(next) after \(sent) bytes")
                next += 1
            }
        }
        #expect(next == expected.count && source?.info.isComplete == true)
    }

    @Test("L10 the first frame is there once its own bytes are", arguments: [ImageFormat.gif, .png, .webp])
    func firstFrameEarly(_ format: ImageFormat) throws {
        let bytes = try ImageEncoder.encode(try Self.movingImage(frameCount: 40), as: format)
        let needed = (1...bytes.count).first { count in
            (try? AnimationDecoder(
                Array(bytes.prefix(count)),
                isComplete: false,
                options: .init(),
                limits: .standard
            )) != nil
        }
        // One of 40 frames, the header, and where the second one begins.
        #expect(try #require(needed) < bytes.count / 8)
    }

    @Test("F03 a still image has no frames by number", arguments: Fixture.standard)
    func still(_ fixture: Fixture) throws {
        let isAnimated = try #require(try ImageDecoder.header(of: fixture.bytes)).frameCount > 1
        let source = try AnimationDecoder(fixture.bytes, isComplete: true, options: .init(), limits: .standard)
        #expect((source != nil) == isAnimated)
    }

    @Test("F07 the limit on frames holds: one below, at, one above", arguments: [22, 23, 24])
    func frameLimit(_ limit: Int) throws {
        let bytes = try ImageEncoder.encode(try Self.movingImage(frameCount: 23), as: .gif)
        var limits = DecodeLimits()
        limits.frames = limit
        // The memory of all frames together is no limit, because they never exist together.
        limits.animationBytes = ByteCount(1)
        let make = { () throws(EideticError) in
            try AnimationDecoder(bytes, isComplete: true, options: .init(), limits: limits)
        }
        if limit < 23 {
            #expect(throws: EideticError.self) { _ = try make() }
        } else {
            #expect(try make()?.info.frameCount == 23)
        }
    }

    @Test("F07 the limits on bytes and time hold while frames come")
    func otherLimits() throws {
        let bytes = try ImageEncoder.encode(try Self.movingImage(frameCount: 23), as: .gif)
        for (limit, isAllowed) in [(bytes.count - 1, false), (bytes.count, true), (bytes.count + 1, true)] {
            var limits = DecodeLimits()
            limits.encodedBytes = ByteCount(limit)
            let head = Array(bytes.prefix(bytes.count / 2))
            let source = try #require(
                try AnimationDecoder(head, isComplete: false, options: .init(), limits: limits)
            )
            let rest = Array(bytes.dropFirst(head.count))
            let info = try? source.append(rest, isComplete: true)
            #expect((info != nil) == isAllowed)
            // The frames before the limit can still be decoded.
            #expect(throws: Never.self) { try source.frame(at: 0, context: JobContext()) }
        }
        var limits = DecodeLimits()
        limits.duration = .zero
        let source = try AnimationDecoder(bytes, isComplete: true, options: .init(), limits: limits)
        #expect(throws: EideticError.self) { try source?.frame(at: 3, context: JobContext()) }
    }

    @Test("F03 a damaged frame is an error, and those before it can be decoded", arguments: [ImageFormat.gif, .webp])
    func damage(_ format: ImageFormat) throws {
        var bytes = try ImageEncoder.encode(try Self.movingImage(frameCount: 23), as: format)
        let expected = try allFrames(of: bytes), start = try #require(pixels(ofFrame: 12, in: bytes, format))
        for index in start..<start + 30 { bytes[index] = 0xff }
        let source = try decoder(bytes)
        #expect(source.info.frameCount == 23)
        let error = #expect(throws: EideticError.self) { try source.frame(at: 12, context: JobContext()) }
        #expect(error?.code == .corrupt || error?.code == .truncated)
        for index in [11] + Array(0..<12) {
            #expect(try source.frame(at: index, context: JobContext()).bytes == expected[index].pixels.bytes)
        }
    }

    /// Returns the position of a frame's compressed pixels.
    private func pixels(ofFrame number: Int, in bytes: [UInt8], _ format: ImageFormat) -> Int? {
        if format == .gif { return FrameEnds.gif(bytes)[number].pixels + 1 }
        let frames = bytes.indices.dropLast(40).filter { bytes[$0...].starts(with: Array("ANMF".utf8)) }
        // The header of the chunk, that of the frame, and that of its image.
        return frames.indices.contains(number) ? frames[number] + 8 + 16 + 8 : nil
    }

    @Test("L13 a transform changes each frame")
    func transform() throws {
        let bytes = try ImageEncoder.encode(try Self.movingImage(frameCount: 23), as: .gif)
        let source = try #require(
            try AnimationDecoder(
                bytes,
                isComplete: true,
                options: .init(),
                transform: ImageTransforms.Flip(vertical: true),
                limits: .standard
            )
        )
        let expected = try allFrames(of: bytes)
        for index in [0, 22, 5] {
            let flipped = try ImageTransforms.Flip(vertical: true).apply(to: expected[index].pixels)
            #expect(try source.frame(at: index, context: JobContext()).bytes == flipped.bytes)
        }
    }
}

extension DecodeOptions {
    fileprivate static func with(_ options: DecodeOptions, change: (inout DecodeOptions) -> Void) -> DecodeOptions {
        var options = options
        change(&options)
        return options
    }
}
