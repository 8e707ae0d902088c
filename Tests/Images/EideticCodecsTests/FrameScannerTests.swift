import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// The search for frames in bytes that are being received.
@Suite("Frames that are received", .timeLimit(.minutes(5)))
struct FrameScannerTests {
    /// Returns the number of bytes from which on a scanner finds the first frame, if it gets one byte at a time.
    private func positionOfFirstFrame(in bytes: [UInt8], of format: ImageFormat) throws -> (image: Int?, frame: Int?) {
        let scanner = try #require(FrameScanner(format))
        var image: Int?
        for count in 1...bytes.count {
            // The bytes have another address each time.
            Array(bytes.prefix(count)).withUnsafeBytes { scanner.update($0) }
            if scanner.findsImage(), image == nil { image = count }
            if scanner.hasFrame { return (image, count) }
            #expect(!scanner.isStill)
        }
        return (image, nil)
    }

    @Test("L10 the first frame is found with its last byte", arguments: [ImageFormat.gif, .png, .webp])
    func firstFrame(_ format: ImageFormat) throws {
        let bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 12), as: format)
        let end = try #require(FrameEnds.first(in: bytes, of: format))
        let found = try positionOfFirstFrame(in: bytes, of: format)
        #expect(found.image == end)
        // A GIF tells that it is an animation where its second frame begins.
        let second = format == .gif ? FrameEnds.gif(bytes)[1].pixels : end
        #expect(found.frame == second)
        let source = try AnimationDecoder(
            Array(bytes.prefix(second)),
            isComplete: false,
            options: .init(),
            limits: .standard
        )
        #expect(source?.info.frameCount == 1)
        _ = try source?.frame(at: 0, context: JobContext())
    }

    #if AVIF
    @Test("L10 the first frame of an AVIF sequence is found with its last byte")
    func sequence() throws {
        let bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 12), as: .avif)
        let position = try #require(try positionOfFirstFrame(in: bytes, of: .avif).frame)
        func decoder(_ count: Int) -> AnimationDecoder? {
            try? AnimationDecoder(Array(bytes.prefix(count)), isComplete: false, options: .init(), limits: .standard)
        }
        #expect(decoder(position - 1) == nil)
        #expect(decoder(position)?.info.frameCount == 1 && position < bytes.count)
    }
    #endif

    @Test("L10 a still image is no animation", arguments: [ImageFormat.png, .webp])
    func still(_ format: ImageFormat) throws {
        let bytes = try Fixture.encode(try TestImages.photo(width: 40, height: 30), as: format)
        let scanner = try #require(FrameScanner(format))
        bytes.prefix(bytes.count / 2).withUnsafeBytes { scanner.update($0) }
        #expect(scanner.isStill && !scanner.hasFrame)
    }

    @Test("L10 bytes that are no image of the format end the search", arguments: [ImageFormat.gif, .png, .webp])
    func corrupt(_ format: ImageFormat) throws {
        var bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 3), as: format)
        for index in 13..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 7) | 0x80 }
        let scanner = try #require(FrameScanner(format))
        for count in stride(from: 20, through: bytes.count, by: 20) {
            bytes.prefix(count).withUnsafeBytes { scanner.update($0) }
            #expect(!scanner.hasFrame)
        }
    }

    @Test("L10 F07 each byte is parsed once, however many pieces there are, or the limit of this test ends it")
    func linear() throws {
        var bytes = GIFWriter.head(width: 8, height: 8)
        for index in 0..<10_000 { bytes += GIFWriter.frame(x: 1, y: 2, colour: UInt8(index % 4)) }
        bytes.append(0x3b)
        let head = Array(bytes.prefix(100)), limits = DecodeLimits.unlimitedFrames
        let source = try #require(try AnimationDecoder(head, isComplete: false, options: .init(), limits: limits))
        for start in stride(from: 100, to: bytes.count, by: 60) {
            let piece = Array(bytes[start..<min(bytes.count, start + 60)])
            _ = try source.append(piece, isComplete: start + 60 >= bytes.count)
        }
        #expect(source.info.frameCount == 10_000 && source.info.isComplete)
    }

    @Test("F03 a PNG keeps the frames that have arrived between the header and the pixels of the next one")
    func betweenChunks() throws {
        let bytes = try ImageEncoder.encode(try AnimationDecoderTests.movingImage(frameCount: 5), as: .png)
        let controls = bytes.indices.filter { bytes[$0...].starts(with: "fcTL".utf8) }
        let source = try #require(
            try AnimationDecoder(
                Array(bytes.prefix(controls[2] + 34)),
                isComplete: false,
                options: .init(),
                limits: .standard
            )
        )
        #expect(source.info.frameCount == 2)
        let info = try source.append(Array(bytes.dropFirst(controls[2] + 34)), isComplete: true)
        #expect(info.frameCount == 5 && info.isComplete)
    }

    @Test("F03 F07 after corrupt bytes the frames before them can be decoded, wherever the bytes were moved")
    func corruptEnd() throws {
        let image = try AnimationDecoderTests.movingImage(frameCount: 8)
        let bytes = try ImageEncoder.encode(image, as: .webp)
        let frames = bytes.indices.filter { bytes[$0...].starts(with: "ANMF".utf8) }
        let expected = try ImageDecoder.decode(bytes, options: .with { $0.frames = .all }).frames
        let source = try #require(
            try AnimationDecoder(
                Array(bytes.prefix(frames[3])),
                isComplete: false,
                options: .init(),
                limits: .standard
            )
        )
        // A frame outside the canvas, and so many bytes that all of them move.
        var end = Array(bytes[frames[3]...])
        for index in 8..<14 { end[index] = 0xff }
        end += Array(repeating: 0, count: 1 << 20)
        #expect(throws: EideticError.self) { try source.append(end, isComplete: true) }
        for index in 0..<3 {
            #expect(try source.frame(at: index, context: JobContext()).bytes == expected[index].pixels.bytes)
        }
    }
}

extension DecodeLimits {
    fileprivate static var unlimitedFrames: DecodeLimits {
        var limits = DecodeLimits()
        limits.frames = .max
        return limits
    }
}
