import EideticCodecs
import EideticCore
import Testing

@Suite("Containers of WebP and profiles of JPEG")
struct WebPContainerTests {
    private func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + littleEndian(body.count, byteCount: 4) + body + (body.count % 2 == 0 ? [] : [0])
    }

    private func littleEndian(_ value: Int, byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns an extended WebP of 6 x 4 pixels with the given chunks.
    private func webp(flags: UInt8, chunks: [UInt8]) -> [UInt8] {
        let body = Array("WEBP".utf8) + chunk("VP8X", [flags, 0, 0, 0, 5, 0, 0, 3, 0, 0]) + chunks
        return Array("RIFF".utf8) + littleEndian(body.count, byteCount: 4) + body
    }

    /// Returns the chunk of a lossless image of one colour.
    private func imageChunk(colour: [UInt8]) throws -> [UInt8] {
        let pixels = try TestImages.solid(width: 6, height: 4, colour: colour)
        return Array(try Fixture.encode(pixels, as: .webp, quality: 1).dropFirst(12))
    }

    @Test("F03 WebP: frames, durations and loop counts; 10 ms are played as 100, 11 ms as 11", arguments: [nil, 1, 3])
    func animation(_ loopCount: Int?) throws {
        let colours: [[UInt8]] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 255]]
        let durations = [10, 11, 12, 70]
        var chunks = chunk("ANIM", [0, 0, 0, 0] + littleEndian(loopCount ?? 0, byteCount: 2))
        for (colour, duration) in zip(colours, durations) {
            let frame = [0, 0, 0, 0, 0, 0, 5, 0, 0, 3, 0, 0] + littleEndian(duration, byteCount: 3) + [2]
            chunks += chunk("ANMF", frame + (try imageChunk(colour: colour)))
        }
        let bytes = webp(flags: 2, chunks: chunks)
        let header = try #require(try ImageDecoder.header(of: bytes))
        #expect(header.frameCount == 4 && header.loopCount == loopCount)
        #expect(header.durations == durations.map { .milliseconds($0) })
        let image = try ImageDecoder.decode(bytes, options: .with { $0.frames = .all })
        #expect(image.frames.map(\.duration) == [100, 11, 12, 70].map { .milliseconds($0) })
        #expect(image.loopCount == loopCount)
        for (frame, colour) in zip(image.frames, colours) {
            #expect(frame.pixels[3, 2] == SIMD4(colour[0], colour[1], colour[2], 255))
        }
    }

    @Test("F02 the profile of a JPEG and of a WebP is converted to sRGB", arguments: [ImageFormat.jpeg, .webp])
    func profiles(of format: ImageFormat) throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2), colour: [UInt8] = [250, 40, 90, 255]
        var bytes = webp(flags: 0x20, chunks: chunk("ICCP", profile) + (try imageChunk(colour: colour)))
        if format == .jpeg {
            let segment = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
            let length = segment.count + 2
            bytes = try Fixture.encode(try TestImages.solid(width: 16, height: 16, colour: colour), as: .jpeg)
            bytes.insert(contentsOf: [0xff, 0xe2, UInt8(length >> 8), UInt8(length & 255)] + segment, at: 2)
        }
        let converted = try ImageDecoder.decode(bytes).pixels[1, 1]
        #expect(converted.y > 235 && converted.x < 70, "\(converted)")
        let stored = try ImageDecoder.decode(bytes, options: .with { $0.convertsToSRGB = false }).pixels[1, 1]
        #expect(stored.x > 240 && stored.y < 50, "\(stored)")
    }

    @Test("F02 a profile that the header of a WebP does not announce does not count, as in browsers")
    func unannouncedProfile() throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        let bytes = webp(flags: 0, chunks: chunk("ICCP", profile) + (try imageChunk(colour: [250, 40, 90, 255])))
        #expect(try ImageDecoder.decode(bytes).pixels[1, 1] == [250, 40, 90, 255])
    }

    /// The numbers of parts and their announced counts.
    private static let validParts: [[[UInt8]]] = [
        [[1, 1]], [[1, 2], [2, 2]], [[2, 2], [1, 2]], [[1, 1], [1, 1]], [[1, 1], [0, 1]], [[1, 1], [1, 2]],
    ]
    private static let invalidParts: [[[UInt8]]] = [[[1, 2], [1, 2], [2, 2]], [[1, 2], [2, 3]], [[2, 2]]]

    /// As in Chromium 156.
    @Test(
        "F02 parts of a JPEG's profile that contradict each other are none; behind the last one they do not count",
        arguments: validParts + invalidParts
    )
    func profileParts(parts: [[UInt8]]) throws {
        let isUsed = Self.validParts.contains(parts)
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2), half = profile.count / 2
        var bytes = try Fixture.encode(
            try TestImages.solid(width: 16, height: 16, colour: [250, 40, 90, 255]),
            as: .jpeg
        )
        for part in parts.reversed() {
            let content = part[1] == 1 ? profile[...] : part[0] == 1 ? profile[..<half] : profile[half...]
            let segment = Array("ICC_PROFILE\0".utf8) + part + content
            let length = segment.count + 2
            bytes.insert(contentsOf: [0xff, 0xe2, UInt8(length >> 8), UInt8(length & 255)] + segment, at: 2)
        }
        let pixel = try ImageDecoder.decode(bytes).pixels[1, 1]
        #expect((pixel.y > 235) == isUsed && (pixel.x > 240) == !isUsed, "\(pixel)")
    }
}
