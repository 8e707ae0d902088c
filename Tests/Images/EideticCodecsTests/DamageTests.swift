import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Damaged images", .timeLimit(.minutes(5)))
struct DamageTests {
    private static let expectedCodes: [EideticError.Code] = [.truncated, .corrupt, .notAnImage, .unsupportedFormat]

    /// The number of bytes at the end that a complete image does not need: end markers.
    private static func trailerLength(of fixture: Fixture) -> Int {
        switch fixture.format {
        case .jpeg: 2
        case .gif: 1
        default: 0
        }
    }

    private static let gifs =
        Fixture.standard.filter { $0.format == .gif } + [
            Fixture(name: "gif disposals", format: .gif, bytes: GIFWriter.everyDisposal(frameCount: 12))
        ]

    /// Returns whether an image may be decoded without an error although its end is missing.
    ///
    /// As in browsers, a GIF shows the frames that it has, if none of them is cut off.
    private static func mayEnd(_ fixture: Fixture, after length: Int) -> Bool {
        guard fixture.format == .gif else { return false }
        let begun = FrameEnds.gif(fixture.bytes).last { $0.pixels <= length }
        // The pixels end within the last two bytes, with a code of up to twelve bits.
        return begun.map { length >= $0.lastPixel - 2 } ?? false
    }

    @Test("F03 F07 a GIF without its end shows exactly the frames that are complete", arguments: gifs)
    func framesOfTruncatedGIF(_ fixture: Fixture) throws {
        let layout = FrameEnds.gif(fixture.bytes)
        let all = try ImageDecoder.decode(fixture.bytes, options: .with { $0.frames = .all }).frames
        #expect(layout.count == all.count)
        for length in layout[0].lastPixel..<fixture.bytes.count {
            let begun = layout.count { $0.pixels <= length }, whole = layout.count { $0.lastPixel <= length }
            let part = Array(fixture.bytes.prefix(length))
            if begun == whole {
                let frames = try ImageDecoder.decode(part, options: .with { $0.frames = .all }).frames
                #expect(frames.count == whole, "\(length) bytes")
                #expect(frames.last?.pixels.bytes == all[whole - 1].pixels.bytes, "\(length) bytes")
            } else if length < layout[whole].lastPixel - 2 {
                let code = errorCode { () throws(EideticError) in
                    _ = try ImageDecoder.decode(part, options: .with { $0.frames = .all })
                }
                #expect(code == .truncated, "\(length) bytes: \(String(describing: code))")
            }
        }
    }

    @Test(
        "F07 an image truncated at any byte is refused, or partial if the options accept that",
        arguments: Fixture.standard
    )
    func everyTruncation(_ fixture: Fixture) throws {
        var partialCount = 0
        for length in 0..<fixture.bytes.count - Self.trailerLength(of: fixture) {
            let part = Array(fixture.bytes.prefix(length))
            let strict = errorCode { () throws(EideticError) in
                _ = try ImageDecoder.decode(part, options: .with { $0.frames = .all })
            }
            if !Self.mayEnd(fixture, after: length) {
                #expect(strict == .truncated || strict == .corrupt, "\(length) bytes: \(String(describing: strict))")
            }
            do throws(EideticError) {
                let image = try ImageDecoder.decode(
                    part,
                    options: .with {
                        $0.frames = .all; $0.acceptsPartial = true
                    }
                )
                #expect(image.isPartial, "\(length) bytes")
                partialCount += 1
            } catch {
                #expect(error.code == .truncated || error.code == .corrupt, "\(length) bytes: \(error)")
            }
        }
        // An incremental decoder returns most of a truncated image.
        #expect(partialCount > fixture.bytes.count / 4)
    }

    @Test("F07 flipped bits give an image or a typed error, at any size", arguments: Fixture.everyFormat)
    func flippedBits(_ fixture: Fixture) throws {
        var random = Generator(seed: 7)
        for _ in 0..<Torture.repetitions(300, full: 20_000) {
            var bytes = fixture.bytes
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] ^= UInt8(
                    1 << Int.random(in: 0..<8, using: &random)
                )
            }
            for size in [nil, PixelSize(width: 5, height: 5)] {
                let options = DecodeOptions.with {
                    $0.frames = .all; $0.size = size
                }
                var limits = DecodeLimits()
                limits.pixels = 1 << 20
                let thrown = errorCode { () throws(EideticError) in
                    _ = try ImageDecoder.decode(bytes, options: options, limits: limits)
                }
                #expect(
                    thrown.map { Self.expectedCodes.contains($0) || $0 == .limitExceeded } ?? true,
                    "\(String(describing: thrown))"
                )
            }
        }
    }

    @Test(
        "F07 a large image truncated at any of 200 lengths is refused",
        arguments: [ImageFormat.jpeg, .png, .webp, .gif]
    )
    func manyTruncations(_ format: ImageFormat) throws {
        let bytes = try Fixture.encode(try TestImages.photo(width: 400, height: 300), as: format)
        for step in 0..<200 {
            let part = Array(bytes.prefix(bytes.count * step / 200))
            let thrown = errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(part) }
            #expect(thrown == .truncated || thrown == .corrupt)
        }
    }

    /// The pixels of a small PNG are one chunk, of which Chromium 156 shows the rows that are there.
    @Test("F02 of a small PNG that is truncated the rows that are there are shown") func truncatedPNG() throws {
        let bytes = try Fixture.encode(try TestImages.photo(width: 40, height: 30), as: .png)
        let whole = try ImageDecoder.decode(bytes, options: .stored).pixels
        #expect(bytes.count < 8_192)
        let part = Array(bytes.prefix(bytes.count * 3 / 4))
        let image = try ImageDecoder.decode(part, options: .with { $0.acceptsPartial = true })
        #expect(image.isPartial && image.pixels[39, 15] == whole[39, 15] && image.pixels[0, 29] == [0, 0, 0, 0])
    }

    /// Chromium 156 shows each pixel of a coarse pass as a block.
    @Test("F02 of an interlaced PNG that is truncated the pixels that are there fill their blocks")
    func truncatedInterlacedPNG() throws {
        let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        var png = PNGWriter(width: 16, height: 16, interlace: 1)
        var rows: [UInt8] = []
        for (left, top, columns, distance) in passes {
            for y in stride(from: top, to: 16, by: distance) {
                rows.append(0)
                for x in stride(from: left, to: 16, by: columns) { rows += [x < 8 ? 10 : 200, y < 8 ? 20 : 210, 7] }
            }
        }
        png.addPixels(rows)
        // The header, and 32 bytes of the pixels: the first pass, and a row of the second.
        let part = Array(png.finished.prefix(8 + 25 + 8 + 32))
        let image = try ImageDecoder.decode(part, options: .with { $0.acceptsPartial = true })
        #expect(image.isPartial)
        for y in 0..<16 {
            for x in 0..<16 { #expect(image.pixels[x, y] == [x < 8 ? 10 : 200, y < 8 ? 20 : 210, 7, 255]) }
        }
    }

    @Test("F02 of a truncated PNG each row that is there is shown", arguments: 0..<7)
    func truncatedRows(row: Int) throws {
        var png = PNGWriter(width: 8, height: 8)
        png.addPixels((0..<8).flatMap { _ in [0] + [UInt8](repeating: 90, count: 24) })
        // The head, the head of the stored block, and the rows, each with its filter.
        let part = Array(png.finished.prefix(8 + 25 + 8 + 7 + 25 * (row + 1)))
        let image = try ImageDecoder.decode(part, options: .with { $0.acceptsPartial = true })
        #expect(image.isPartial)
        #expect((0..<8).map { image.pixels[7, $0].w } == (0..<8).map { $0 <= row ? 255 : 0 })
    }

    /// Chromium 156 shows 14 of the first 16 rows.
    ///
    /// The last two rows of a block need the next block, as the colours are interpolated.
    @Test("F02 of a JPEG that is truncated all complete rows are shown") func truncatedJPEG() throws {
        let bytes = try Fixture.encode(try TestImages.photo(width: 40, height: 48), as: .jpeg)
        let counts = Set(
            (0..<40).compactMap { step in
                let part = Array(bytes.prefix(bytes.count * (60 + step) / 100))
                guard let image = try? ImageDecoder.decode(part, options: .with { $0.acceptsPartial = true }) else {
                    return nil as Int?
                }
                return (0..<48).count { image.pixels[0, $0].w == 255 }
            }
        )
        #expect(counts.isSuperset(of: [14, 30]) && counts.isSubset(of: [0, 14, 30, 48]), "\(counts)")
    }

    @Test("F02 an error message has the offset of the corruption") func errorLocation() throws {
        let bytes = Fixture.standard[1].bytes
        do throws(EideticError) {
            _ = try ImageDecoder.decode(Array(bytes.dropLast(20)))
            Issue.record("a truncated image was decoded")
        } catch {
            #expect(error.message.contains("byte \(bytes.count - 20) of \(bytes.count - 20)"))
        }
    }
}
