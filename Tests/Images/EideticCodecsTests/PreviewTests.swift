import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Previews", .serialized, .timeLimit(.minutes(5)))
struct PreviewTests {
    private func makeDecoder(size: PixelSize? = nil) -> PreviewDecoder {
        PreviewDecoder(options: .with { $0.size = size }, limits: .standard, context: JobContext())
    }

    private func preview(with decoder: PreviewDecoder, of bytes: some Collection<UInt8>) throws -> Image? {
        try decoder.preview(of: Array(bytes))
    }

    /// Waits until all that previews have reserved is released, which threads may do after a result.
    private func waitForWholeBudget() async throws {
        let whole = ByteCount.mebibytes(128).bytes
        try await eventually("unreserved bytes", is: whole) { DecodeMemoryBudget.previews.availableBytes }
    }

    @Test("L10 previews improve with each part, and the last one is the complete image", arguments: Kind.allCases)
    func grows(_ kind: Kind) throws {
        let bytes = try kind.bytes(), complete = try ImageDecoder.decode(bytes), decoder = makeDecoder()
        var highestQuality = 0.0, previewCount = 0
        for step in 1...25 {
            let count = bytes.count * step / 25
            guard let image = try? preview(with: decoder, of: bytes.prefix(count)) else { continue }
            previewCount += 1
            #expect(image.size == complete.size)
            let quality = signalToNoiseRatio(image.pixels, complete.pixels)
            #expect(quality > highestQuality - 0.5, "after \(count) of \(bytes.count) bytes")
            highestQuality = quality
            #expect(try #require(decoder.consumedByteCount) <= count)
        }
        #expect(previewCount > 15)
        let last = try #require(try preview(with: decoder, of: bytes))
        #expect(last.pixels.bytes == complete.pixels.bytes)
        #expect(!last.isPartial)
    }

    @Test("L10 a consumed byte is not read again", arguments: [Kind.baseline, .progressive, .png, .interlaced])
    func readsOnce(_ kind: Kind) throws {
        var bytes = try kind.bytes()
        let complete = try ImageDecoder.decode(bytes), decoder = makeDecoder()
        let name: [UInt8] = kind.rawValue.hasSuffix("e") || kind == .progressive ? [0xff, 0xda] : Array("IDAT".utf8)
        let data = try #require(bytes.indices.first { bytes[$0...].starts(with: name) }) + 16
        var overwrittenCount = 0
        for step in 1...10 {
            _ = try? preview(with: decoder, of: bytes.prefix(bytes.count * step / 10))
            let consumedByteCount = decoder.consumedByteCount ?? 0
            // A decoder that started again would decode these bytes.
            guard consumedByteCount - 8 > data else { continue }
            for index in data..<consumedByteCount - 8 { bytes[index] = 0x55 }
            overwrittenCount = consumedByteCount - 8 - data
        }
        #expect(overwrittenCount > bytes.count / 2)
        #expect(try #require(try preview(with: decoder, of: bytes)).pixels.bytes == complete.pixels.bytes)
    }

    @Test(
        "L10 no byte behind the position in a frame is read again, but those of a block or of rows in progress",
        arguments: [Kind.gif, .webp, .lossless]
    )
    func readsFrameOnce(_ kind: Kind) throws {
        var bytes = try kind.bytes()
        let complete = try ImageDecoder.decode(bytes), decoder = makeDecoder()
        let data = try #require(kind.frameIndices(of: bytes))
        for step in 1...9 {
            let count = bytes.count * step / 10
            _ = try preview(with: decoder, of: bytes.prefix(count))
            let readCount = kind == .gif ? data[0] - 1 + (decoder.consumedByteCount ?? 0) : count
            for index in data where index < readCount - kind.byteCountInProgress { bytes[index] = 0x55 }
        }
        #expect(try #require(try preview(with: decoder, of: bytes)).pixels.bytes == complete.pixels.bytes)
        #expect((try? ImageDecoder.decode(bytes).pixels.bytes) != complete.pixels.bytes)
    }

    @Test(
        "L10 early previews of an interlaced PNG and a progressive JPEG cover the complete image",
        arguments: [
            (Kind.interlaced, 0.05), (.progressive, 0.4),
        ]
    )
    func showsWholeImageEarly(_ kind: Kind, fraction: Double) throws {
        let bytes = try kind.bytes(), complete = try ImageDecoder.decode(bytes)
        let image = try #require(
            try preview(with: makeDecoder(), of: bytes.prefix(Int(Double(bytes.count) * fraction)))
        )
        #expect(image.isPartial)
        #expect(stride(from: 3, to: image.pixels.bytes.count, by: 4).allSatisfy { image.pixels.bytes[$0] == 255 })
        #expect(signalToNoiseRatio(image.pixels, complete.pixels) > 14)
    }

    @Test("L10 F04 previews have the target size", arguments: Kind.allCases)
    func size(_ kind: Kind) throws {
        let bytes = try kind.bytes(), size = PixelSize(width: 40, height: 40)
        let decoder = makeDecoder(size: size),
            complete = try ImageDecoder.decode(bytes, options: .with { $0.size = size })
        for part in [3, 6, 9] {
            guard let image = try? preview(with: decoder, of: bytes.prefix(bytes.count * part / 10)) else { continue }
            #expect(image.size == complete.size)
        }
        let last = try #require(try preview(with: decoder, of: bytes))
        #expect(signalToNoiseRatio(last.pixels, complete.pixels) > 35)
    }

    @Test("L10 F07 corrupt bytes give an error or an image, and all memory is released", arguments: Kind.allCases)
    func corruption(_ kind: Kind) async throws {
        let bytes = try kind.bytes()
        try await waitForWholeBudget()
        var state = UInt32(7)
        func random(below limit: Int) -> Int {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 8) % limit
        }
        var images = 0
        for _ in 0..<60 {
            var corrupt = bytes
            for _ in 0..<1 + random(below: 4) { corrupt[random(below: bytes.count)] = UInt8(random(below: 256)) }
            let decoder = makeDecoder(), step = 1 + random(below: bytes.count / 3)
            for count in stride(from: step, to: bytes.count + step, by: step) {
                do {
                    guard let image = try preview(with: decoder, of: corrupt.prefix(count)) else { continue }
                    images += 1
                    #expect(image.pixels.bytes.count == 4 * image.size.pixelCount)
                } catch let error as EideticError {
                    #expect(
                        [.corrupt, .truncated, .notAnImage, .limitExceeded, .unsupportedFormat].contains(error.code),
                        "\(error)"
                    )
                }
            }
        }
        #expect(images > 0)
        try await waitForWholeBudget()
    }

    @Test("L10 twelve megapixels are decoded incrementally", arguments: [ImageFormat.webp, .png])
    func largeImage(_ format: ImageFormat) throws {
        let size = PixelSize(width: 4_000, height: 3_000)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 255)
        }
        let bytes = try ImageEncoder.encode(
            Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size),
            as: format
        )
        let decoder = makeDecoder()
        _ = try? preview(with: decoder, of: bytes.prefix(bytes.count - 20))
        #expect(try #require(decoder.consumedByteCount) > 0)
    }

    @Test("L10 previews are those of a new decoder, and one that is in use does not change", arguments: Kind.allCases)
    func isImmutable(_ kind: Kind) throws {
        let bytes = try kind.bytes(), decoder = makeDecoder()
        var held: [(image: Image, bytes: [UInt8])] = []
        for step in 1...24 {
            let prefix = bytes.prefix(bytes.count * step / 24)
            guard let image = try? preview(with: decoder, of: prefix) else { continue }
            // Only every third one is held, so that the memory of the others is used again.
            #expect(image.pixels.bytes == (try preview(with: makeDecoder(), of: prefix)?.pixels.bytes), "step \(step)")
            if step.isMultiple(of: 3) { held.append((image, image.pixels.bytes)) }
        }
        #expect(held.count > 1)
        for (image, bytes) in held { #expect(image.pixels.bytes == bytes) }
    }

    @Test(
        "L10 previews of a megabyte stay as they are while rows are added, and rows are those of a new decoder",
        arguments: [(ImageFormat.png, 0.9), (.webp, 0.9), (.webp, 1), (.jpeg, 0.9)]
    )
    func finishedRows(encoding: (format: ImageFormat, quality: Double)) throws {
        let image = TestImages.makeImage(try TestImages.photo(width: 640, height: 480))
        let bytes = try ImageEncoder.encode(image, as: encoding.format, quality: encoding.quality)
        let decoder = makeDecoder()
        var held: [(image: Image, bytes: [UInt8])] = []
        for step in 1...12 {
            let prefix = bytes.prefix(bytes.count * step / 12)
            guard let image = try? preview(with: decoder, of: prefix) else { continue }
            #expect(image.pixels.bytes == (try preview(with: makeDecoder(), of: prefix)?.pixels.bytes), "step \(step)")
            if step.isMultiple(of: 3) { held.append((image, image.pixels.bytes)) }
        }
        #expect(held.count > 2)
        for (image, bytes) in held { #expect(image.pixels.bytes == bytes) }
        #expect(held.last?.bytes == (try ImageDecoder.decode(bytes)).pixels.bytes)
    }

    #if JPEGXL
    @Test("L10 previews of JPEG XL improve pass by pass, and no byte is read again", .needsCorpus)
    func jpegXL() throws {
        var bytes = try Corpus.bytes(of: "jxl-features/features/distance_10_0.jxl")
        let size = PixelSize(width: 300, height: 200), decoder = makeDecoder(size: size)
        let complete = try ImageDecoder.decode(bytes, options: .with { $0.size = size })
        var qualities: [Double] = []
        for step in 1...10 {
            let count = bytes.count * step / 10
            guard let image = try? preview(with: decoder, of: bytes.prefix(count)) else { continue }
            #expect(image.size == complete.size && image.isPartial == (step < 10))
            qualities.append(signalToNoiseRatio(image.pixels, complete.pixels))
            // The beginning describes the image.
            guard let consumed = decoder.consumedByteCount, consumed > 1_000 else { continue }
            for index in 1_000..<consumed { bytes[index] = 0x55 }
        }
        #expect(qualities.count > 5)
        #expect(zip(qualities, qualities.dropFirst()).allSatisfy { $0 < $1 + 0.5 }, "\(qualities)")
        let last = try #require(try preview(with: decoder, of: bytes))
        #expect(last.pixels.bytes == complete.pixels.bytes && !last.isPartial)
        let damaged = try? ImageDecoder.decode(bytes, options: .with { $0.size = size })
        #expect(damaged?.pixels.bytes != complete.pixels.bytes)
    }

    @Test("L10 F07 corrupt previews of JPEG XL give an error or an image, and all memory is released", .needsCorpus)
    func corruptJPEGXL() async throws {
        let bytes = try Corpus.bytes(of: "serenity/xyb.jxl")
        try await waitForWholeBudget()
        var generator = Generator(seed: 5)
        for _ in 0..<20 {
            var corrupt = bytes
            for _ in 0..<3 { corrupt[Int.random(in: 20..<bytes.count, using: &generator)] = .random(in: 0...255) }
            let decoder = makeDecoder()
            for step in 1...6 { _ = try? preview(with: decoder, of: corrupt.prefix(bytes.count * step / 6)) }
        }
        try await waitForWholeBudget()
    }
    #endif

    @Test("L10 the bytes of another image are decoded from the start", arguments: Kind.allCases)
    func replacedBytes(_ kind: Kind) throws {
        let first = try kind.bytes(),
            solid = try TestImages.solid(width: Kind.width, height: Kind.height, colour: [9, 90, 200, 255])
        let larger = TestImages.makeImage(try TestImages.photo(width: 900, height: 700))
        let files = [
            try ImageEncoder.encode(larger, as: kind.format),
            try ImageEncoder.encode(TestImages.makeImage(solid), as: .gif),
        ]
        for second in files {
            let size = PixelSize(width: 400, height: 400), decoder = makeDecoder(size: size)
            _ = try? preview(with: decoder, of: first.prefix(first.count * 9 / 10))
            let complete = try ImageDecoder.decode(second, options: .with { $0.size = size })
            #expect(try #require(try preview(with: decoder, of: second)).pixels.bytes == complete.pixels.bytes)
        }
    }

    @Test("L10 F07 a PNG with a large ancillary chunk is decoded from the start", arguments: [0, 1])
    func largeChunk(excess: Int) throws {
        var png = PNGWriter(width: 1, height: 1)
        png.addChunk("teSt", content: Array(repeating: 0, count: (1 << 20) + excess))
        png.addPixels([0, 1, 2, 3])
        let decoder = makeDecoder()
        #expect(try preview(with: decoder, of: png.finished) != nil)
        #expect((decoder.consumedByteCount == nil) == (excess == 1))
    }
}
