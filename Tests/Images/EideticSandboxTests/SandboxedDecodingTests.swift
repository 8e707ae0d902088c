import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

@Suite("decoding in the sandbox", .timeLimit(.minutes(5)))
struct SandboxedDecodingTests {
    @Test("F07 an image of the sandbox has the pixels of one decoded in this process", arguments: [8, 300, 1_100])
    func pixelsAreEqual(side: Int) throws {
        let pool = Programs.pool()
        for bytes in [try Samples.png(side, side), try Samples.jpeg(side, side / 2)] {
            let expected = try ImageDecoder.decode(bytes), image = try pool.image(bytes)
            #expect(image.bytes == expected.bytes && image.size == expected.size && image.format == expected.format)
            #expect(image.pixels.alpha == expected.pixels.alpha && image.sourceSize == expected.sourceSize)
        }
        #expect(pool.startedCount == 1)
    }

    @Test("F07 the memory of a large image is used again once the image is released, and not before")
    func memoryIsUsedAgain() throws {
        let pool = Programs.pool(), bytes = try [Samples.jpeg(1_300, 1_000), Samples.png(1_300, 1_000)]
        let expected = try bytes.map { try ImageDecoder.decode($0).bytes }
        for index in 0..<12 { #expect(try pool.image(bytes[index % 2]).bytes == expected[index % 2]) }
        // Memory may have been prepared while an image was compared, also more than once on a busy machine.
        #expect(pool.createdMemoryCount <= 6)
        let kept = try (0..<4).map { try pool.image(bytes[$0 % 2]) }
        for (index, image) in kept.enumerated() { #expect(image.bytes == expected[index % 2]) }
        #expect(pool.createdMemoryCount >= 4)
    }

    @Test("F07 where memory cannot be used again, it is sealed, with the same pixels")
    func memoryIsSealed() throws {
        let pool = Programs.pool { $0.reusableLimit = 0 }, bytes = try Samples.jpeg(1_300, 1_000)
        let expected = try ImageDecoder.decode(bytes).bytes
        for _ in 0..<3 { #expect(try pool.image(bytes).bytes == expected) }
        #expect(pool.createdMemoryCount >= 3)
    }

    @Test("F07 all frames, durations and repetitions come from the sandbox")
    func animationsAreEqual() throws {
        let bytes = try Samples.gif(), pool = Programs.pool()
        let expected = try ImageDecoder.decode(bytes, options: DecodeOptions().allFrames)
        let image = try pool.image(bytes) { $0.frames = .all }
        #expect(image.bytes == expected.bytes && image.frames.map(\.duration) == expected.frames.map(\.duration))
        #expect(image.loopCount == 4 && image.frames.count == 3)
        let header = try pool.header(of: bytes)
        #expect(try header == ImageDecoder.header(of: bytes) && header?.durations.count == 3)
        #expect(try pool.header(of: Array(bytes.prefix(3)), isComplete: false) == nil)
    }

    @Test("F07 a part of an image, a size and a crop are decoded in the sandbox")
    func optionsReachTheProcess() throws {
        let bytes = try Samples.jpeg(640, 480), pool = Programs.pool()
        for mode in [ContentMode.fit, .fillCropped(focus: .point(x: 0.1, y: 0.9)), .stretch] {
            var options = DecodeOptions(size: PixelSize(width: 100, height: 100))
            options.contentMode = mode
            let expected = try ImageDecoder.decode(bytes, options: options)
            let image = try pool.decode(bytes, options: options, limits: DecodeLimits(), context: nil).image
            #expect(image.bytes == expected.bytes && image.size == expected.size)
        }
        let part = Array(bytes.prefix(bytes.count / 2))
        #expect(Programs.error(of: { () throws(EideticError) in try pool.image(part) })?.code == .truncated)
        #expect(try pool.image(part) { $0.acceptsPartial = true }.isPartial)
    }

    @Test("F07 limits are checked in the sandbox: one below, at, one above")
    func limitsHold() throws {
        let bytes = try Samples.png(20, 10), pool = Programs.pool()
        for (limit, code) in [(199, .limitExceeded), (200, nil), (201, nil)] as [(Int, EideticError.Code?)] {
            var limits = DecodeLimits()
            limits.pixels = limit
            let error = Programs.error { () throws(EideticError) in try pool.image(bytes, limits: limits) }
            #expect(error?.code == code)
        }
    }

    @Test("F07 all formats of the corpus have the same pixels, or the same error, in the sandbox", .needsCorpus)
    func corpusIsEqual() throws {
        let pool = Programs.pool()
        let names = try Corpus.files().enumerated().filter { $0.offset % 23 == 0 }.map(\.element)
        for name in names {
            let bytes = try Corpus.bytes(of: name)
            var options = DecodeOptions(size: PixelSize(width: 64, height: 64))
            options.frames = .all
            let expected = Result { () throws(EideticError) in try ImageDecoder.decode(bytes, options: options) }
            let result = Result { () throws(EideticError) in
                try pool.decode(bytes, options: options, limits: DecodeLimits(), context: nil).image
            }
            switch (expected, result) {
            case (.success(let expected), .success(let image)): #expect(image.bytes == expected.bytes, "\(name)")
            case (.failure(let expected), .failure(let error)):
                #expect(error.code == expected.code, "\(name): \(error)")
            default: Issue.record("\(name): \(expected), \(result)")
            }
        }
        #expect(names.count > 40)
    }

    @Test(
        "F07 text in SVG is drawn in the sandbox, with the fonts of the system",
        .enabled(if: ImageDecoder.supportedFormats.contains(.svg), "this build has no SVG")
    )
    func textIsDrawn() throws {
        let text = """
            <svg xmlns='http://www.w3.org/2000/svg' width='200' height='40'>
            <text x='5' y='30' font-size='24' font-family='CONTENT'>Eidetic</text></svg>
            """
        let pool = Programs.pool { $0.idleLimit = 1 }
        for family in ["serif", "sans-serif", "DejaVu Sans Mono"] {
            let bytes = Array(text.replacing("CONTENT", with: family).utf8)
            let image = try pool.image(bytes)
            #expect(try image.bytes == ImageDecoder.decode(bytes).bytes && image.pixels.bytes.contains { $0 != 0 })
        }
        #expect(try pool.description().restrictions.isSuperset(of: [.systemCalls, .landlock]))
    }
}

extension DecodeOptions {
    fileprivate var allFrames: DecodeOptions {
        var options = self
        options.frames = .all
        return options
    }
}
