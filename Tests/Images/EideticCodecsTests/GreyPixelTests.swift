import EideticCodecs
import EideticCore
import EideticTestSupport
import FoundationEssentials
import Testing

@Suite("Grey pixels", .timeLimit(.minutes(3)))
struct GreyPixelTests {
    /// Returns opaque grey pixels that differ, and whose rows and columns do.
    private static func grey(width: Int, height: Int) throws -> PixelBuffer {
        try PixelBuffer(size: PixelSize(width: width, height: height), alpha: .opaque) { index in
            let value = UInt8(truncatingIfNeeded: index % width &* 3 &+ index / width &* 5)
            return SIMD4(value, value, value, 255)
        }
    }

    private static func png(depth: UInt8 = 8, colorType: UInt8, samples: [UInt8], chunk: (String, [UInt8])? = nil)
        -> [UInt8]
    {
        var png = PNGWriter(width: 4, height: 4, depth: depth, colorType: colorType)
        if let chunk { png.addChunk(chunk.0, content: chunk.1) }
        let row: [UInt8] = [0] + samples + samples + samples + samples
        png.addPixels(row + row + row + row)
        return png.finished
    }

    private static func profile(_ bytes: [UInt8]) -> (String, [UInt8]) {
        ("iCCP", Array("test\0\0".utf8) + PNGWriter.zlibStream(of: bytes))
    }

    /// 19 x 11 pixels of `(9 * x + 7 * y) % 256`, by `cjpeg -grayscale -quality 60 -optimize`, with and without
    /// `-progressive`.
    private static let jpegs = [
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYV
        pQYEpRUk//wAALCAALABMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABv/EAB0QAAEEAwEBAAAAAAAAAAAAACEAAQIFAwQxEyP/2gAIAQEAAD8A
        J1ulwJZW6XAkWPS+bBC62EQGSythEBkixwj5sGX/2Q==
        """,
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYV
        pQYEpRUk//wgALCAALABMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/aAAgBAQAAAAElZEVZH//EABkQAAMBAQEAAAAAAAAAAAAAAAACAwEh
        Mf/aAAgBAQABBQKaE0MTkyZnn//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEABj8CX//EABYQAQEBAAAAAAAAAAAAAAAAAAEAEP/aAAgBAQ
        ABPyHaBIkCf//aAAgBAQAAABAD/8QAGBABAQEBAQAAAAAAAAAAAAAAIQABMRH/2gAIAQEAAT8Q4lxIRCMhGXiGX//Z
        """,
    ]

    @Test("F02 opaque grey images of every kind are kept with a byte a pixel, others with four")
    func kinds() throws {
        let linear = Self.profile(TestProfile.grey(gamma: 1)), photo = try TestImages.photo(width: 24, height: 24)
        let kinds: [(String, [UInt8], isCompact: Bool)] = [
            ("grey PNG", Self.png(colorType: 0, samples: [90]), true),
            ("of 16 bits", Self.png(depth: 16, colorType: 0, samples: [90, 17]), true),
            ("with a profile", Self.png(colorType: 0, samples: [90], chunk: linear), true),
            ("RGB of greys", Self.png(colorType: 2, samples: [90, 90, 90]), true),
            ("grey with alpha", Self.png(colorType: 4, samples: [90, 77]), false),
            ("grey with a key", Self.png(colorType: 0, samples: [90], chunk: ("tRNS", [0, 90])), false),
            ("nearly grey", Self.png(colorType: 2, samples: [90, 90, 91]), false),
            ("JPEG in colours", try Fixture.encode(photo, as: .jpeg), false),
            ("grey JPEG", try Fixture.encode(Self.grey(width: 24, height: 24), as: .jpeg), true),
        ]
        for (name, bytes, isCompact) in kinds {
            let pixels = try ImageDecoder.decode(bytes).pixels, compact = pixels.compacted()
            #expect(!pixels.isCompact && compact.isCompact == isCompact, "\(name)")
            #expect(compact.byteCount.bytes == pixels.size.pixelCount * (isCompact ? 1 : 4), "\(name)")
            #expect(compact.bytes == pixels.bytes, "\(name)")
        }
    }

    @Test("F02 a JPEG of one component has the greys of djpeg, also at a smaller size", arguments: jpegs)
    func jpeg(base64: String) throws {
        let bytes = Array(Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
        let pixels = try ImageDecoder.decode(bytes).pixels
        let last: [UInt8] = [71, 78, 87, 97, 105, 115, 124, 131, 142, 149, 159, 168, 177, 186, 196, 202, 214, 221, 229]
        #expect((0..<19).map { pixels[$0, 10] } == last.map { SIMD4($0, $0, $0, 255) })
        #expect((0..<209).reduce(0) { $0 + Int(pixels[$1 % 19, $1 / 19].x) } == 24_215)
        let small = try ImageDecoder.decode(bytes, options: DecodeOptions(size: PixelSize(width: 2, height: 2))).pixels
        #expect(pixels.compacted().byteCount == 209 && small.compacted().byteCount == 2)
    }

    @Test("F02 an animation keeps four bytes a pixel")
    func animation() throws {
        let frame = try Self.grey(width: 5, height: 3)
        let moving = TestImages.makeImage(frame, frame, milliseconds: [10, 10])
        #expect(moving.compacted().cost == 120 && moving.compacted().frames.count == 2)
        #expect(TestImages.makeImage(frame).compacted().cost == 15)
    }

    @Test(
        "F02 the pixels of a compact buffer are those that were there, at each position and in each row",
        arguments: [(1, 1), (1, 9), (3, 2), (17, 5), (64, 31), (1_033, 517)]
    )
    func pixels(width: Int, height: Int) throws {
        let pixels = try Self.grey(width: width, height: height), compact = pixels.compacted()
        #expect(compact.isCompact && compact.compacted() === compact && compact.bytesPerRow == 4 * width)
        #expect(compact.bytes == pixels.bytes)
        for (x, y) in [(0, 0), (width - 1, 0), (0, height - 1), (width / 2, height / 2), (width - 1, height - 1)] {
            #expect(compact[x, y] == pixels[x, y], "\(x), \(y)")
        }
    }

    @Test("F02 one pixel in colour, wherever it is, keeps four bytes a pixel", arguments: [0, 1, 2])
    func oneColour(channel: Int) throws {
        let size = PixelSize(width: 21, height: 19)
        for position in 0..<size.pixelCount {
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
                var pixel = SIMD4<UInt8>(90, 90, 90, 255)
                if index == position { pixel[channel] = 91 }
                return pixel
            }
            #expect(pixels.compacted() === pixels, "\(position)")
        }
    }

    @Test("F02 rows with padding are compacted without it")
    func padding() throws {
        let whole = try Self.grey(width: 16, height: 8)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16 * 4 * 8, alignment: 16)
        let rows = UnsafeMutableRawBufferPointer(start: memory, count: 16 * 4 * 8)
        whole.withUnsafeBytes { rows.copyMemory(from: $0) }
        nonisolated(unsafe) let owned = memory
        let size = PixelSize(width: 9, height: 8)
        let left = PixelBuffer(adopting: memory, size: size, bytesPerRow: 64, alpha: .opaque) { owned.deallocate() }
        let compact = left.compacted()
        #expect(compact.byteCount == 72 && compact.bytesPerRow == 36)
        #expect((0..<72).allSatisfy { compact[$0 % 9, $0 / 9] == whole[$0 % 9, $0 / 9] })
    }

    @Test("F02 the four bytes are released after their use, and what holds them holds the compact buffer")
    func release() throws {
        let compact = try Self.grey(width: 40, height: 30).compacted()
        var first: PixelBuffer? = try compact.expanded()
        weak let released = first
        let isSame = try first?.expanded() === first
        #expect(first !== compact && first?.isCompact == false && isSame)
        first = nil
        #expect(released == nil)
        #expect(compact.byteCount == 1_200)
        var other: PixelBuffer? = try Self.grey(width: 4, height: 3).compacted()
        weak let held = other
        let shown = try other?.expanded()
        other = nil
        let expected = try Self.grey(width: 4, height: 3).bytes
        #expect(held != nil && shown?.bytes == expected)
    }

    @Test("F02 several threads read a compact buffer at once")
    func threads() async throws {
        let pixels = try Self.grey(width: 700, height: 600), compact = pixels.compacted(), expected = pixels.bytes
        let results = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (0..<5).allSatisfy { _ in compact.bytes == expected } } }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(results == Array(repeating: true, count: 8))
    }

    @Test("F06 each transform of a compact image has the bytes that it has of four channels")
    func transforms() throws {
        let pixels = try Self.grey(width: 61, height: 43), compact = pixels.compacted()
        let transforms: [any ImageTransform] = [
            .resize(PixelSize(width: 20, height: 20), contentMode: .fillCropped(focus: .content)),
            .resize(PixelSize(width: 90, height: 90), upscales: true),
            .crop(PixelRect(x: 3, y: 4, width: 17, height: 9)),
            .roundedCorners(radius: 7.5), .circle(borderWidth: 3), .border(width: 1.5, color: .white),
            .rotation(degrees: 17), .rotation(degrees: -90), .flip(), .grayscale, .gaussianBlur(radius: 2.2),
            .tint(ImageColor(red: 255, green: 0, blue: 0, alpha: 77)), .sharpening(),
        ]
        for transform in transforms {
            let expected = try transform.apply(to: pixels)
            for result in [
                try transform.apply(to: compact), try transform.apply(to: TestImages.makeImage(compact)).pixels,
            ] {
                #expect(result.bytes == expected.bytes && result.alpha == expected.alpha, "\(transform.key)")
            }
        }
        let placeholders = try [compact, pixels].map { try ImagePlaceholder(of: $0) }
        #expect(placeholders[0] == placeholders[1])
        for side in [30, 7, 61] {
            let size = PixelSize(width: side, height: side * 43 / 61)
            let sizes = try [compact, pixels].map { try Resampler.resample($0, to: size).bytes }
            #expect(sizes[0] == sizes[1])
        }
    }

    @Test("F05 each format encodes a compact image to the same file as four channels")
    func encoders() throws {
        let pixels = try Self.grey(width: 40, height: 30)
        let (full, compact) = (TestImages.makeImage(pixels), TestImages.makeImage(pixels.compacted()))
        for format in ImageEncoder.supportedFormats {
            for size in [nil, PixelSize(width: 20, height: 20)] {
                var options = EncodeOptions()
                options.maximumSize = size
                let files = try [compact, full].map { try ImageEncoder.encode($0, as: format, options: options) }
                #expect(files[0] == files[1], "\(format)")
            }
        }
        // Grey without alpha, as before.
        let png = try ImageEncoder.encode(compact, as: .png)
        #expect(png[25] == 0)
    }
}
