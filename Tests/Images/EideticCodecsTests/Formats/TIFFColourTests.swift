import EideticCodecs
import EideticCore
import Glibc
import Testing

@Suite("Colours of TIFF")
struct TIFFColourTests {
    private func decode(_ page: TIFFPage) throws -> PixelBuffer {
        try ImageDecoder.decode(page.finished, options: .stored).pixels
    }

    /// Returns a palette whose colour `index` has the values of `channels` in 16 bits.
    private func palette(bits: Int, channels: (Int) -> [Int]) -> [Int] {
        (0..<3).flatMap { channel in (0..<1 << bits).map { channels($0)[channel] } }
    }

    @Test("F02 a TIFF's palette of 16 bits has 65,536 colours")
    func widePalette() throws {
        var page = TIFFPage(
            width: 3,
            height: 1,
            bits: [16],
            photometric: 3,
            strips: [TIFFPage.samples([0, 1_000, 65_535], bits: 16)]
        )
        page.set(320, as: .short, to: palette(bits: 16) { [$0, 65_535 - $0, $0 == 1_000 ? 65_535 : 0] })
        let pixels = try decode(page)
        #expect(pixels[0, 0] == [0, 255, 0, 255])
        #expect(pixels[1, 0] == [4, 251, 255, 255])
        #expect(pixels[2, 0] == [255, 0, 0, 255])
    }

    @Test("F02 a TIFF's palette of 12 bits", arguments: [1, 2]) func twelveBits(planes: Int) throws {
        var page = TIFFPage(width: 2, height: 1, bits: [12], photometric: 3, strips: [[0x00, 0x1f, 0xff]])
        page.set(320, as: .short, to: palette(bits: 12) { [$0 == 4_095 ? 65_535 : 0, $0 == 1 ? 65_535 : 0, 257 * 7] })
        page.set(284, as: .short, to: [planes])
        let pixels = try decode(page)
        #expect(pixels[0, 0] == [0, 255, 7, 255] && pixels[1, 0] == [255, 0, 7, 255])
    }

    @Test("F02 indices with alpha: the alpha is scaled, the index is not", arguments: [4, 8, 16])
    func paletteWithAlpha(bits: Int) throws {
        let indices = [2, 1], alphas = [(1 << bits) - 1, bits == 4 ? 5 : 85 * (bits == 8 ? 1 : 257)]
        let interleaved = zip(indices, alphas).flatMap { [$0, $1] }
        let strip =
            bits == 4
            ? [UInt8(interleaved[0] << 4 | interleaved[1]), UInt8(interleaved[2] << 4 | interleaved[3])]
            : TIFFPage.samples(interleaved, bits: bits)
        var page = TIFFPage(width: 2, height: 1, bits: [bits, bits], photometric: 3, strips: [strip])
        page.set(
            320,
            as: .short,
            to: palette(bits: bits) { $0 == 1 ? [65_535, 0, 0] : $0 == 2 ? [0, 0, 65_535] : [0, 0, 0] }
        )
        page.set(338, as: .short, to: [2])
        let pixels = try decode(page)
        #expect(pixels.alpha == .straight)
        #expect(pixels[0, 0] == [0, 0, 255, 255] && pixels[1, 0] == [255, 0, 0, 85])
    }

    @Test("F02 colours that exceed the alpha by which they are said to be multiplied are clamped", arguments: [1, 2])
    func excessiveColours(planes: Int) throws {
        let pixels: [[UInt8]] = [[97, 102, 101, 77], [0, 76, 77, 77], [9, 9, 9, 0], [255, 254, 0, 255]]
        let strips = planes == 1 ? [pixels.flatMap { $0 }] : (0..<4).map { plane in pixels.map { $0[plane] } }
        var page = TIFFPage(width: 4, height: 1, bits: [8, 8, 8, 8], photometric: 2, strips: strips)
        page.set(284, as: .short, to: [planes])
        page.set(338, as: .short, to: [1])
        let decoded = try ImageDecoder.decode(page.finished).pixels
        #expect(decoded.bytes == [77, 77, 77, 77, 0, 76, 77, 77, 0, 0, 0, 0, 255, 254, 0, 255])
        let straight = try decode(page)
        #expect(straight[0, 0] == [255, 255, 255, 77] && straight[1, 0] == [0, 252, 255, 77])
    }

    @Test("F02 a fourth sample without a meaning is no alpha, also of complex numbers", arguments: [1, 5, 6])
    func unknownSample(format: Int) throws {
        var page = TIFFPage(
            width: 1,
            height: 1,
            bits: [8, 8, 8, 8],
            photometric: 2,
            strips: [[200, 100, 50, 77]]
        )
        page.set(339, as: .short, to: [format, format, format, format])
        let pixels = try decode(page)
        #expect(pixels.alpha == .opaque && pixels[0, 0].w == 255)
    }

    @Test("F07 rows of an opaque TIFF that are missing are black") func missingRows() throws {
        let row: [UInt8] = [1, 2, 3, 4, 5, 6]
        var page = TIFFPage(width: 2, height: 2, bits: [8, 8, 8], photometric: 2, rowsPerStrip: 1, strips: [row, row])
        page.set(273, as: .long, to: [8, 100_000])
        let image = try ImageDecoder.decode(page.finished, options: .with { $0.acceptsPartial = true })
        #expect(image.isPartial && image.pixels.alpha == .opaque)
        #expect(image.pixels.bytes == [1, 2, 3, 255, 4, 5, 6, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    }

    @Test("F02 a TIFF whose palette is missing is an error") func missingPalette() {
        let page = TIFFPage(width: 1, height: 1, bits: [4], photometric: 3, strips: [[0]])
        #expect(throws: EideticError.self) { _ = try decode(page) }
    }

    @Test("F02 CMYK with an extra sample", arguments: [1, 2]) func inksWithExtraSample(planes: Int) throws {
        let pixels = [[255, 0, 0, 0, 9], [0, 255, 0, 51, 200]]
        let strips =
            planes == 1
            ? [pixels.flatMap { $0.map(UInt8.init) }] : (0..<5).map { plane in pixels.map { UInt8($0[plane]) } }
        for extra in [0, 1, 2] {
            var page = TIFFPage(
                width: 2,
                height: 1,
                bits: Array(repeating: 8, count: 5),
                photometric: 5,
                strips: strips
            )
            page.set(284, as: .short, to: [planes])
            page.set(338, as: .short, to: [extra])
            let decoded = try decode(page)
            #expect(decoded[0, 0] == [0, 255, 255, 255] && decoded[1, 0] == [204, 0, 204, 255])
        }
    }

    @Test("F02 CMYK with a horizontal predictor", arguments: [8, 16]) func predictedInks(bits: Int) throws {
        let scale = bits == 8 ? 1 : 257
        let first = [255, 0, 51, 0], second = [0, 255, 102, 51]
        let differences = first.map { $0 * scale } + zip(first, second).map { ($1 - $0) * scale & ((1 << bits) - 1) }
        let content = TIFFPage.samples(differences, bits: bits)
        var page = TIFFPage(
            width: 2,
            height: 1,
            bits: Array(repeating: bits, count: 4),
            photometric: 5,
            compression: 8,
            strips: [PNGWriter.zlibStream(of: content)]
        )
        page.set(317, as: .short, to: [2])
        let pixels = try decode(page)
        #expect(pixels[0, 0] == [0, 255, 204, 255] && pixels[1, 0] == [204, 0, 122, 255])
    }

    @Test("F02 RGB with extra samples that are no alpha is opaque, and alpha behind them counts", arguments: [1, 2])
    func extraSamples(planes: Int) throws {
        for (kinds, alpha): ([Int], UInt8) in [([0, 0], 255), ([0, 2], 77), ([2, 0], 9), ([], 255)] {
            let samples: [UInt8] = [10, 20, 30, 9, 77]
            var page = TIFFPage(
                width: 1,
                height: 1,
                bits: Array(repeating: 8, count: 5),
                photometric: 2,
                strips: planes == 1 ? [samples] : samples.map { [$0] }
            )
            page.set(284, as: .short, to: [planes])
            if !kinds.isEmpty { page.set(338, as: .short, to: kinds) }
            let pixels = try decode(page)
            #expect(pixels[0, 0] == [10, 20, 30, alpha], "extra samples \(kinds)")
            #expect(pixels.alpha == (alpha == 255 ? .opaque : .straight))
        }
    }

    @Test("F02 planes of 32 bits: integers with a predictor, and numbers with and without", arguments: [1, 2, 3])
    func widePlanes(predictor: Int) throws {
        let values: [[Double]] = [[0, 1], [0.6, 0.2], [1, 0]]
        let strips = values.map { plane -> [UInt8] in
            let integers = plane.map { Int(Double(UInt32.max) * $0) }
            let numbers = plane.map { Int(Float($0).bitPattern) }
            switch predictor {
            case 2: return TIFFPage.samples([integers[0], integers[1] - integers[0] & 0xffff_ffff], bits: 32)
            case 3:
                // Bytes of equal significance side by side, the highest first, as differences.
                let bytes = [24, 16, 8, 0].flatMap { shift in numbers.map { UInt8($0 >> shift & 255) } }
                return bytes.indices.map { $0 == 0 ? bytes[0] : bytes[$0] &- bytes[$0 - 1] }
            default: return TIFFPage.samples(numbers, bits: 32)
            }
        }
        var page = TIFFPage(
            width: 2,
            height: 1,
            bits: [32, 32, 32],
            photometric: 2,
            compression: 8,
            strips: strips.map { PNGWriter.zlibStream(of: $0) }
        )
        page.set(284, as: .short, to: [2])
        page.set(317, as: .short, to: [predictor])
        page.set(339, as: .short, to: Array(repeating: predictor == 2 ? 1 : 3, count: 3))
        let pixels = try decode(page)
        #expect(pixels[0, 0] == [0, 153, 255, 255] && pixels[1, 0] == [255, 51, 0, 255])
    }

    /// Well-known colours: those of sRGB in CIE L*a*b* relative to D50.
    private static let labColours: [(lab: [Double], rgb: SIMD3<Int>)] = [
        ([100, 0, 0], [255, 255, 255]), ([0, 0, 0], [0, 0, 0]), ([53.39, 0, 0], [127, 127, 127]),
        ([54.29, 80.81, 69.89], [255, 0, 0]), ([87.82, -79.27, 80.99], [0, 255, 0]),
        ([29.57, 68.30, -112.03], [0, 0, 255]),
    ]

    @Test("F02 CIE L*a*b* and ICC L*a*b* are converted relative to D50", arguments: [8, 16], [8, 9])
    func lab(bits: Int, photometric: Int) throws {
        for (lab, rgb) in Self.labColours {
            let scale = bits == 8 ? 1.0 : 256.0
            let light = Int((lab[0] / 100 * (bits == 8 ? 255 : photometric == 8 ? 65_535 : 65_280)).rounded())
            let offset = photometric == 9 ? 128.0 * scale : 0
            let axes = lab[1...].map { Int(($0 * scale + offset).rounded()) & (bits == 8 ? 255 : 65_535) }
            let page = TIFFPage(
                width: 1,
                height: 1,
                bits: [bits, bits, bits],
                photometric: photometric,
                strips: [TIFFPage.samples([light] + axes, bits: bits)]
            )
            let pixel = try decode(page)[0, 0]
            let difference = (0..<3).map { abs(Int(pixel[$0]) - rgb[$0]) }.max() ?? 255
            // A step of 8 bits in a* and b* is up to ten steps of a dark channel.
            #expect(difference <= (bits == 8 ? 10 : 2), "\(lab) is \(pixel) instead of \(rgb)")
        }
    }

    @Test("F02 CIE L*a*b* in planes, with alpha, and of lightness alone") func otherLab() throws {
        var planes = TIFFPage(
            width: 1,
            height: 1,
            bits: [8, 8, 8, 8],
            photometric: 8,
            strips: [[255], [0], [0], [33]]
        )
        planes.set(284, as: .short, to: [2])
        planes.set(338, as: .short, to: [2])
        #expect(try decode(planes)[0, 0] == [255, 255, 255, 33])
        let light = TIFFPage(width: 1, height: 1, bits: [8], photometric: 8, strips: [[136]])
        let grey = try decode(light)[0, 0]
        #expect(grey.x == grey.y && grey.y == grey.z && abs(Int(grey.x) - 127) <= 1)
    }
}
