import EideticCodecs
import EideticCore
import Testing

@Suite("Animations", .timeLimit(.minutes(5)))
struct AnimationTests {
    private let all = DecodeOptions.with {
        $0.frames = .all; $0.premultipliesAlpha = false
    }

    private func pixel(of image: Image, frame: Int, x: Int, y: Int) -> SIMD4<UInt8> {
        image.frames[frame].pixels[x, y]
    }

    @Test("F03 APNG frames are composed by their disposal and blending") func apng() throws {
        let header = try #require(try ImageDecoder.header(of: APNGFixtures.threeFrames))
        #expect(header.frameCount == 3 && header.loopCount == nil && header.hasAlpha)
        #expect(header.durations == [.milliseconds(500), .milliseconds(50), .zero])
        let image = try ImageDecoder.decode(APNGFixtures.threeFrames, options: all)
        #expect(image.frames.map(\.duration) == [.milliseconds(500), .milliseconds(50), .milliseconds(100)])
        #expect(pixel(of: image, frame: 0, x: 2, y: 2) == SIMD4(255, 0, 0, 255))
        #expect(pixel(of: image, frame: 1, x: 0, y: 0) == SIMD4(255, 0, 0, 255))
        #expect(pixel(of: image, frame: 1, x: 2, y: 2) == SIMD4(0, 255, 0, 255))
        #expect(pixel(of: image, frame: 2, x: 0, y: 0) == SIMD4(127, 0, 128, 255))
        #expect(pixel(of: image, frame: 2, x: 2, y: 2) == SIMD4(0, 0, 255, 128))
    }

    @Test("F03 the still image of an APNG is its default image") func defaultImage() throws {
        var png = PNGWriter(width: 2, height: 2, colorType: 2)
        png.addChunk("acTL", content: png.bigEndian(2) + png.bigEndian(7))
        png.addPixels(APNGFixtures.rows(width: 2, height: 2, colour: [9, 9, 9]))
        for (index, grey) in [UInt8(100), 200].enumerated() {
            let control = APNGFixtures.frameControl(sequence: 2 * index, width: 2, height: 2)
            png.addChunk("fcTL", content: control)
            png.addChunk(
                "fdAT",
                content: png.bigEndian(2 * index + 1)
                    + PNGWriter.zlibStream(of: APNGFixtures.rows(width: 2, height: 2, colour: [grey, grey, grey]))
            )
        }
        let animation = try ImageDecoder.decode(png.finished, options: all)
        #expect(animation.loopCount == 7 && animation.frames.count == 2)
        #expect(pixel(of: animation, frame: 0, x: 0, y: 0).x == 100)
        let still = try ImageDecoder.decode(png.finished)
        #expect(still.frames.count == 1 && still.pixels[0, 0].x == 9)
    }

    @Test("F03 an APNG whose second frame is invalid is a still image", arguments: 1..<4)
    func brokenAPNG(_ fault: Int) throws {
        var png = PNGWriter(width: 2, height: 2, colorType: 2)
        png.addChunk("acTL", content: png.bigEndian(2) + png.bigEndian(0))
        png.addChunk("fcTL", content: APNGFixtures.frameControl(sequence: 0, width: 2, height: 2))
        png.addPixels(APNGFixtures.rows(width: 2, height: 2, colour: [9, 9, 9]))
        let sequence = fault == 1 ? 5 : 1, x = fault == 2 ? 1 : 0, disposal: UInt8 = fault == 3 ? 3 : 0
        png.addChunk(
            "fcTL",
            content: APNGFixtures.frameControl(sequence: sequence, width: 2, height: 2, x: x, disposal: disposal)
        )
        png.addChunk(
            "fdAT",
            content: png.bigEndian(2)
                + PNGWriter.zlibStream(of: APNGFixtures.rows(width: 2, height: 2, colour: [1, 1, 1]))
        )
        #expect(try ImageDecoder.header(of: png.finished)?.frameCount == 1)
        let image = try ImageDecoder.decode(png.finished, options: all)
        #expect(image.frames.count == 1 && pixel(of: image, frame: 0, x: 0, y: 0).x == 9)
    }

    @Test(
        "F03 GIF: frames, durations and loop counts survive a round trip; 10 ms are played as 100",
        arguments: [nil, 1, 3]
    )
    func gif(_ loopCount: Int?) throws {
        let pixels = try [[255, 0, 0, 255], [0, 255, 0, 255]].map {
            try TestImages.solid(width: 5, height: 4, colour: $0)
        }
        let source = TestImages.makeImage(pixels[0], pixels[1], loopCount: loopCount, milliseconds: [20, 70])
        var bytes = try ImageEncoder.encode(source, as: .gif)
        let control = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x21, 0xf9, 4]) })
        #expect(bytes[control + 4] == 2)
        bytes[control + 4] = 1
        let header = try #require(try ImageDecoder.header(of: bytes))
        #expect(header.durations == [.milliseconds(10), .milliseconds(70)])
        let image = try ImageDecoder.decode(bytes, options: all)
        #expect(image.frames.map(\.duration) == [.milliseconds(100), .milliseconds(70)])
        #expect(image.loopCount == loopCount && header.loopCount == loopCount)
        #expect(pixel(of: image, frame: 0, x: 2, y: 2) == SIMD4(255, 0, 0, 255))
        #expect(pixel(of: image, frame: 1, x: 2, y: 2) == SIMD4(0, 255, 0, 255))
    }

    /// As in Chromium 156, disposal 4 is 3.
    @Test(
        "F03 GIF: uncovered and cleared pixels are transparent; restored ones are as before the frame",
        arguments: [3, 4] as [UInt8]
    )
    func gifDisposal(restoring: UInt8) throws {
        // 2 x 1 pixels: red on the left; green on the right, then restored; blue on the left, then cleared; green on
        // the right.
        var gif = GIFWriter.head(width: 2, height: 1)
        for (x, colour, disposal) in [(0, 0, 1), (1, 1, restoring), (0, 2, 2), (1, 1, 1)] as [(UInt8, UInt8, UInt8)] {
            gif += GIFWriter.frame(x: x, y: 0, colour: colour, disposal: disposal)
        }
        let image = try ImageDecoder.decode(gif + [0x3b], options: all)
        let red = SIMD4<UInt8>(255, 0, 0, 255), green = SIMD4<UInt8>(0, 255, 0, 255)
        let blue = SIMD4<UInt8>(0, 0, 255, 255), clear = SIMD4<UInt8>(0, 0, 0, 0)
        let expected = [[red, clear], [red, green], [blue, clear], [clear, green]]
        for (frame, colours) in expected.enumerated() {
            #expect(
                [pixel(of: image, frame: frame, x: 0, y: 0), pixel(of: image, frame: frame, x: 1, y: 0)] == colours,
                "frame \(frame)"
            )
        }
    }

    @Test("F03 GIF: what the first frame does not cover is transparent, also without a graphic control block")
    func gifUncovered() throws {
        for hasControl in [false, true] {
            let still =
                GIFWriter.head(width: 2, height: 1) + GIFWriter.frame(x: 0, y: 0, colour: 1, hasControl: hasControl)
            let image = try ImageDecoder.decode(still + [0x3b])
            #expect(pixel(of: image, frame: 0, x: 0, y: 0) == [0, 255, 0, 255])
            #expect(pixel(of: image, frame: 0, x: 1, y: 0) == [0, 0, 0, 0])
        }
    }

    @Test("F03 GIF: frames are cut to the canvas, the last of several loop counts counts")
    func gifCanvas() throws {
        let outside = GIFWriter.frame(x: 7, y: 0, colour: 2)
        let gif =
            GIFWriter.head(width: 2, height: 1) + GIFWriter.loops(4) + GIFWriter.frame(x: 0, y: 0, colour: 0)
            + GIFWriter.loops(6) + outside + GIFWriter.frame(x: 1, y: 0, colour: 1) + [0x3b]
        let image = try ImageDecoder.decode(gif, options: all)
        #expect(image.loopCount == 7 && image.frames.count == 3)
        #expect(pixel(of: image, frame: 1, x: 1, y: 0) == [0, 0, 0, 0])
        #expect(pixel(of: image, frame: 2, x: 1, y: 0) == [0, 255, 0, 255])
    }

    @Test("F03 GIF: a file without its trailer shows the frames that it has")
    func gifWithoutTrailer() throws {
        let gif = GIFWriter.head(width: 2, height: 1) + GIFWriter.frame(x: 0, y: 0, colour: 0)
        let two = gif + GIFWriter.frame(x: 1, y: 0, colour: 1)
        let image = try ImageDecoder.decode(two, options: all)
        #expect(image.frames.count == 2 && !image.isPartial)
        let source = try AnimationDecoder(two, isComplete: true, options: .init(), limits: .standard)
        #expect(source?.info.frameCount == 2 && source?.info.isComplete == true)
        // Of a last frame that is cut off, its own pixels are missing.
        #expect(throws: EideticError.self) { try ImageDecoder.decode(two.dropLast(4) + [], options: all) }
    }
}
