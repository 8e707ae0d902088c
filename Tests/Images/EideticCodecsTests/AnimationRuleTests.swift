import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// Rules of animations that concern few files.
@Suite("Rules of animations", .timeLimit(.minutes(1)))
struct AnimationRuleTests {
    private static let straight = DecodeOptions.with {
        $0.frames = .all; $0.premultipliesAlpha = false
    }

    private func decoder(_ bytes: [UInt8], isComplete: Bool = true, copies: Int = 0) throws -> AnimationDecoder {
        try #require(
            try AnimationDecoder(
                bytes,
                isComplete: isComplete,
                options: Self.straight,
                maximumCopyBytes: copies,
                limits: .standard
            )
        )
    }

    @Test("F03 GIF: a frame outside of the canvas disposes of the one before, in any order", arguments: [0, 1 << 20])
    func outside(copies: Int) throws {
        var gif = GIFWriter.head(width: 2, height: 1)
        for _ in 0..<20 {
            gif += GIFWriter.frame(x: 0, y: 0, colour: 0, disposal: 2)
            gif += GIFWriter.frame(x: 7, y: 0, colour: 1, disposal: 2)
        }
        gif.append(0x3b)
        let whole = try ImageDecoder.decode(gif, options: Self.straight), source = try decoder(gif, copies: copies)
        #expect(whole.frames.count == 40 && source.info.frameCount == 40)
        for index in Array(0..<40) + (0..<40).reversed() {
            let expected: SIMD4<UInt8> = index.isMultiple(of: 2) ? [255, 0, 0, 255] : [0, 0, 0, 0]
            #expect(whole.frames[index].pixels[0, 0] == expected)
            #expect(try source.frame(at: index, context: JobContext())[0, 0] == expected, "frame \(index)")
        }
    }

    /// A first frame at 7, 5 on a screen of 2 x 1 pixels is shown by Chromium 156 on 8 x 6, and a later one is cut.
    @Test("F02 F03 GIF: the canvas covers the screen and the first frame, whole and in pieces")
    func largerFirstFrame() throws {
        let first = GIFWriter.head(width: 2, height: 1) + GIFWriter.frame(x: 7, y: 5, colour: 0)
        let still = try ImageDecoder.decode(first + [0x3b]).pixels
        #expect(still.size == PixelSize(width: 8, height: 6))
        #expect(still[7, 5] == [255, 0, 0, 255] && still[0, 0] == [0, 0, 0, 0])
        let start = first + GIFWriter.frame(x: 9, y: 9, colour: 1)
        let file = start + GIFWriter.frame(x: 0, y: 0, colour: 2) + [0x3b]
        let source = try decoder(start, isComplete: false)
        _ = try source.append(Array(file[start.count...]), isComplete: true)
        let whole = try ImageDecoder.decode(file, options: Self.straight)
        #expect(source.info.size == still.size && whole.frames.count == 3)
        for index in 0..<3 {
            let pixels = try source.frame(at: index, context: JobContext())
            #expect(pixels.size == still.size && pixels[0, 0] == (index == 2 ? [0, 0, 255, 255] : [0, 0, 0, 0]))
            #expect(pixels[7, 5] == [255, 0, 0, 255] && pixels[0, 0] == whole.frames[index].pixels[0, 0])
        }
    }

    @Test("F03 after a frame that cannot be decoded, the one before has its pixels", arguments: [0, 1 << 20])
    func beforeDamage(copies: Int) throws {
        var gif = GIFWriter.head(width: 2, height: 1)
        for _ in 0..<20 { gif += GIFWriter.frame(x: 0, y: 0, colour: 0, disposal: 2) }
        let damaged = gif.count + 8 + 12
        gif += GIFWriter.frame(x: 1, y: 0, colour: 1, disposal: 2) + [0x3b]
        gif[damaged] = 0xff
        gif[damaged + 1] = 0xff
        let source = try decoder(gif, copies: copies)
        #expect(source.info.frameCount == 21)
        // Going back makes it keep copies.
        for index in [19, 7, 19, 20, 19, 18] {
            let pixels = try? source.frame(at: index, context: JobContext())
            #expect(pixels?[0, 0] == (index == 20 ? nil : [255, 0, 0, 255]), "frame \(index)")
        }
    }

    @Test("F03 L10 a WebP with EXIF shows its first frame when it is there, and never turns")
    func webPWithEXIF() throws {
        let image = try AnimationDecoderTests.movingImage(frameCount: 12)
        var bytes = try ImageEncoder.encode(image, as: .webp)
        let exif = OrientationTests.exif(orientation: 6, isLittleEndian: true)
        bytes += Array("EXIF".utf8) + littleEndian(exif.count) + exif + (exif.count % 2 == 1 ? [0] : [])
        bytes.replaceSubrange(4..<8, with: littleEndian(bytes.count - 8))
        // The flag of the extended header.
        bytes[20] |= 8
        let first = try #require(FrameEnds.first(in: bytes, of: .webp))
        let source = try decoder(Array(bytes.prefix(first)), isComplete: false)
        #expect(source.info.frameCount == 1 && source.info.sourceSize == image.size)
        let scanner = try #require(FrameScanner(.webp))
        bytes.prefix(first).withUnsafeBytes { scanner.update($0) }
        #expect(scanner.hasFrame)
        #expect(try source.append(Array(bytes.dropFirst(first)), isComplete: true).sourceSize == image.size)
        #expect(try source.frame(at: 11, context: JobContext()).size == image.size)
        #expect(try ImageDecoder.decode(bytes).size == image.size)
    }

    private func littleEndian(_ value: Int) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    @Test("F03 L10 an APNG does not turn by an orientation behind its first frame; a still PNG does")
    func pngWithEXIF() throws {
        let image = try AnimationDecoderTests.movingImage(frameCount: 6)
        var exif = PNGWriter(width: 1, height: 1)
        let start = exif.finished.count - 12
        exif.addChunk("eXIf", content: OrientationTests.exif(orientation: 6, isLittleEndian: true))
        let chunk = exif.finished[start...].dropLast(12)
        let animated = try ImageEncoder.encode(image, as: .png)
        let bytes = Array(animated.dropLast(12) + chunk + animated.suffix(12)), half = bytes.count / 2
        let source = try decoder(Array(bytes.prefix(half)), isComplete: false)
        #expect(try source.frame(at: 0, context: JobContext()).size == image.size)
        #expect(try source.append(Array(bytes.dropFirst(half)), isComplete: true).sourceSize == image.size)
        for index in 0..<6 { #expect(try source.frame(at: index, context: JobContext()).size == image.size) }
        let still = try ImageEncoder.encode(image.firstFrame, as: .png)
        let turned = Array(still.dropLast(12) + chunk + still.suffix(12))
        #expect(try ImageDecoder.header(of: turned)?.orientation == .right)
    }

    @Test("F03 L10 frames that arrive with a corrupt one behind them can be decoded")
    func beforeCorruptChunk() throws {
        var bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 12), as: .webp)
        let first = try #require(FrameEnds.first(in: bytes, of: .webp))
        let frames = bytes.indices.dropLast(40).filter { bytes[$0...].starts(with: Array("ANMF".utf8)) }
        // The frame is moved out of the canvas.
        bytes[frames[8] + 8] = 0xff
        let source = try decoder(Array(bytes.prefix(first)), isComplete: false)
        #expect(throws: EideticError.self) { _ = try source.append(Array(bytes.dropFirst(first)), isComplete: true) }
        #expect(source.info.frameCount == 8)
        for index in 0..<8 { #expect(throws: Never.self) { try source.frame(at: index, context: JobContext()) } }
    }

    #if AVIF
    @Test("F03 L10 the frames of an AVIF sequence stay after bytes that cannot be used")
    func sequenceBeforeError() throws {
        let bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 12), as: .avif)
        let source = try decoder(Array(bytes.dropLast(20)), isComplete: false)
        let count = source.info.frameCount
        #expect(count > 1)
        // The file ends where frames are missing.
        _ = try? source.append([], isComplete: true)
        for index in (0..<count).reversed() {
            #expect(throws: Never.self) { try source.frame(at: index, context: JobContext()) }
        }
    }
    #endif

    @Test(
        "C01 the limit of what a decoder keeps does not grow while it decodes",
        arguments: [ImageFormat.gif, .png, .webp]
    )
    func retained(_ format: ImageFormat) throws {
        let bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 40), as: format)
        let source = try decoder(bytes, copies: 20_000), limit = source.retainedByteLimit
        for index in Array(0..<40) + (0..<40).reversed() {
            _ = try source.frame(at: index, context: JobContext())
            #expect(source.retainedByteCount <= limit && source.retainedByteLimit == limit)
        }
        #expect(source.retainedByteCount > bytes.count)
    }
}

extension Image {
    fileprivate var firstFrame: Image {
        Image(frames: [Frame(pixels: pixels)], format: format, sourceSize: sourceSize)
    }
}
