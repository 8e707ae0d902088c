import EideticCodecs
import EideticCore
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

    @Test("F02 a TIFF's palette of 4 and 8 bits", arguments: [4, 8])
    func palette(bits: Int) throws {
        let strip: [UInt8] = bits == 4 ? [0x21] : [2, 1]
        var page = TIFFPage(width: 2, height: 1, bits: [bits], photometric: 3, strips: [strip])
        page.set(
            320,
            as: .short,
            to: palette(bits: bits) { $0 == 1 ? [65_535, 0, 0] : $0 == 2 ? [0, 0, 65_535] : [0, 0, 0] }
        )
        let pixels = try decode(page)
        #expect(pixels[0, 0] == [0, 0, 255, 255] && pixels[1, 0] == [255, 0, 0, 255])
    }

    @Test(
        "F02 samples of other widths than 1, 2, 4, 8 and 16 bits, and floating point, are refused by name",
        arguments: [5, 10, 12, 14, 24, 32, 64],
        [1, 3]
    )
    func otherSamples(bits: Int, format: Int) throws {
        for samples in [1, 3] {
            var page = TIFFPage(
                width: 1,
                height: 1,
                bits: Array(repeating: bits, count: samples),
                photometric: samples == 1 ? 1 : 2,
                strips: [Array(repeating: 0, count: 24)]
            )
            page.set(339, as: .short, to: Array(repeating: format, count: samples))
            let error = #expect(throws: EideticError.self) { try ImageDecoder.decode(page.finished) }
            #expect(error?.code == .unsupportedFormat && error?.message.contains("\(bits) bits per sample") == true)
            #expect(try ImageDecoder.header(of: page.finished)?.size == PixelSize(width: 1, height: 1))
        }
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

    @Test("F02 CIE L*a*b* is shown, ICC L*a*b* is refused", arguments: [8, 9])
    func lab(photometric: Int) throws {
        let page = TIFFPage(
            width: 1,
            height: 1,
            bits: [8, 8, 8],
            photometric: photometric,
            strips: [[137, 0, 0]]
        )
        guard photometric == 8 else {
            let error = #expect(throws: EideticError.self) { try ImageDecoder.decode(page.finished) }
            return #expect(error?.code == .unsupportedFormat && error?.message.contains("colours 9") == true)
        }
        let pixel = try decode(page)[0, 0]
        // Grey, with the white of D50 as that of the screen.
        #expect((100...150).contains(pixel.x) && abs(Int(pixel.x) - Int(pixel.y)) < 40 && pixel.w == 255)
    }
}
