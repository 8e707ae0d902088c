import CBareJPEG
import EideticCodecs
import EideticCore
import Glibc
import Testing

@Suite("Previews", .serialized)
struct PreviewTests {
    /// A kind of file that can be shown while it comes.
    enum Kind: String, CaseIterable {
        case baseline, progressive, png, interlaced, gif, webp, lossless

        static let width = 203, height = 157

        func bytes() throws -> [UInt8] {
            let pixels = try TestImages.photo(width: Self.width, height: Self.height)
            let image = TestImages.makeImage(pixels)
            return switch self {
            case .baseline: encodeJPEG(pixels, isProgressive: 0)
            case .progressive: encodeJPEG(pixels, isProgressive: 1)
            case .png: try ImageEncoder.encode(image, as: .png)
            case .interlaced: interlaced(pixels)
            case .gif: try ImageEncoder.encode(image, as: .gif)
            case .webp: try ImageEncoder.encode(image, as: .webp, quality: 0.8)
            case .lossless: try ImageEncoder.encode(image, as: .webp, quality: 1)
            }
        }

        var format: ImageFormat {
            switch self {
            case .baseline, .progressive: .jpeg
            case .png, .interlaced: .png
            case .gif: .gif
            case .webp, .lossless: .webp
            }
        }

        private func encodeJPEG(_ pixels: PixelBuffer, isProgressive: Int32) -> [UInt8] {
            var count = 0
            let (width, height) = (UInt32(Self.width), UInt32(Self.height))
            let encoded = pixels.withUnsafeBytes {
                eidetic_bare_jpeg_encode(
                    $0.bindMemory(to: UInt8.self).baseAddress,
                    width,
                    height,
                    85,
                    isProgressive,
                    &count
                )
            }
            defer { free(encoded) }
            return Array(UnsafeBufferPointer(start: encoded, count: count))
        }

        /// In the seven passes of Adam7, without compression.
        private func encodeInterlacedPNG(_ pixels: PixelBuffer) -> [UInt8] {
            var png = PNGWriter(width: Self.width, height: Self.height, interlace: 1)
            var rows: [UInt8] = []
            for (x, y, across, down) in [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
            ] {
                for row in stride(from: y, to: Self.height, by: down) {
                    rows.append(0)
                    for column in stride(from: x, to: Self.width, by: across) {
                        let pixel = pixels[column, row]
                        rows += [pixel.x, pixel.y, pixel.z]
                    }
                }
            }
            png.addPixels(rows)
            return png.finished
        }
    }

    private func makeDecoder(size: PixelSize? = nil) -> PreviewDecoder {
        PreviewDecoder(options: .with { $0.size = size }, limits: .standard, context: JobContext())
    }

    private func preview(with decoder: PreviewDecoder, of bytes: some Collection<UInt8>) throws -> Image? {
        try Array(bytes).withUnsafeBytes { try decoder.preview(of: $0) }
    }

    @Test("L10 previews get better piece by piece, and the last is the picture itself", arguments: Kind.allCases)
    func grows(_ kind: Kind) throws {
        let bytes = try kind.bytes(), whole = try ImageDecoder.decode(bytes), decoder = decoder()
        var highestQuality = 0.0, previewCount = 0
        for step in 1...25 {
            let count = bytes.count * step / 25
            guard let image = try? preview(with: decoder, of: bytes.prefix(count)) else { continue }
            previewCount += 1
            #expect(image.size == whole.size)
            let quality = signalToNoiseRatio(image.pixels, whole.pixels)
            #expect(quality > highestQuality - 0.5, "after \(count) of \(bytes.count) bytes")
            highestQuality = quality
            #expect(try #require(decoder.consumedByteCount) <= count)
        }
        #expect(previewCount > 15)
        let last = try #require(try preview(with: decoder, of: bytes))
        #expect(last.pixels.bytes == whole.pixels.bytes)
        #expect(!last.isPartial)
    }

    @Test("L10 a byte that was taken is not read again", arguments: [Kind.baseline, .progressive, .png, .interlaced])
    func readsOnce(_ kind: Kind) throws {
        var bytes = try kind.bytes()
        let whole = try ImageDecoder.decode(bytes), decoder = decoder()
        let name: [UInt8] = kind.rawValue.hasSuffix("e") || kind == .progressive ? [0xff, 0xda] : Array("IDAT".utf8)
        let data = try #require(bytes.indices.first { bytes[$0...].starts(with: name) }) + 16
        for step in 1...10 {
            _ = try? preview(with: decoder, of: bytes.prefix(bytes.count * step / 10))
            let consumedByteCount = decoder.consumedByteCount ?? 0
            // Whoever began anew would decode this.
            if consumedByteCount > data { for index in data..<consumedByteCount - 8 { bytes[index] = 0x55 } }
        }
        #expect(try #require(try preview(with: decoder, of: bytes)).pixels.bytes == whole.pixels.bytes)
    }

    @Test(
        "L10 an interlaced PNG and a progressive JPEG are seen as a whole early",
        arguments: [
            (Kind.interlaced, 0.05), (.progressive, 0.4),
        ]
    )
    func showsWholeImageEarly(_ kind: Kind, fraction: Double) throws {
        let bytes = try kind.bytes(), whole = try ImageDecoder.decode(bytes)
        let image = try #require(
            try preview(with: makeDecoder(), of: bytes.prefix(Int(Double(bytes.count) * fraction)))
        )
        #expect(image.isPartial)
        #expect(stride(from: 3, to: image.pixels.bytes.count, by: 4).allSatisfy { image.pixels.bytes[$0] == 255 })
        #expect(signalToNoiseRatio(image.pixels, whole.pixels) > 14)
    }

    @Test("L10 F04 previews have the size that is wanted", arguments: Kind.allCases)
    func size(_ kind: Kind) throws {
        let bytes = try kind.bytes(), size = PixelSize(width: 40, height: 40)
        let decoder = decoder(size), whole = try ImageDecoder.decode(bytes, options: .with { $0.size = size })
        for part in [3, 6, 9] {
            guard let image = try? preview(with: decoder, of: bytes.prefix(bytes.count * part / 10)) else { continue }
            #expect(image.size == whole.size)
        }
        let last = try #require(try preview(with: decoder, of: bytes))
        #expect(signalToNoiseRatio(last.pixels, whole.pixels) > 35)
    }

    @Test("L10 F07 what is broken gives an error or a picture, and all memory comes back", arguments: Kind.allCases)
    func damage(_ kind: Kind) throws {
        let bytes = try kind.bytes(), free = DecodeMemoryBudget.previews.availableBytes
        var state = UInt32(7)
        func random(below limit: Int) -> Int {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 8) % limit
        }
        for _ in 0..<60 {
            var broken = bytes
            for _ in 0..<1 + random(below: 4) { broken[random(below: bytes.count)] = UInt8(random(below: 256)) }
            let decoder = decoder(), step = 1 + random(below: bytes.count / 3)
            for count in stride(from: step, to: bytes.count + step, by: step) {
                _ = try? preview(with: decoder, of: broken.prefix(count))
            }
        }
        #expect(DecodeMemoryBudget.previews.availableBytes == free)
    }

    @Test("L10 the bytes of another picture are decoded anew, whatever was taken before", arguments: Kind.allCases)
    func otherBytes(_ kind: Kind) throws {
        let first = try kind.bytes(),
            even = try TestImages.solid(width: Kind.width, height: Kind.height, colour: [9, 90, 200, 255])
        let larger = TestImages.makeImage(try TestImages.photo(width: 900, height: 700))
        let files = [
            try ImageEncoder.encode(larger, as: kind.format),
            try ImageEncoder.encode(TestImages.makeImage(even), as: .gif),
        ]
        for second in files {
            let size = PixelSize(width: 400, height: 400), decoder = decoder(size)
            _ = try? preview(with: decoder, of: first.prefix(first.count * 9 / 10))
            let whole = try ImageDecoder.decode(second, options: .with { $0.size = size })
            #expect(try #require(try preview(with: decoder, of: second)).pixels.bytes == whole.pixels.bytes)
        }
    }

    @Test("L10 F07 a PNG with a large chunk beside its pixels is decoded anew", arguments: [0, 1])
    func largeChunk(excess above: Int) throws {
        var png = PNGWriter(width: 1, height: 1)
        png.addChunk("teSt", content: Array(repeating: 0, count: (1 << 20) + above))
        png.addPixels([0, 1, 2, 3])
        let decoder = decoder()
        #expect(try preview(with: decoder, of: png.finished) != nil)
        #expect((decoder.consumedByteCount == nil) == (above == 1))
    }
}
