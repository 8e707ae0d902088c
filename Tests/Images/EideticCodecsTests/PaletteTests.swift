import EideticCodecs
import EideticCore
import Testing

@Suite("Samples of a PNG", .timeLimit(.minutes(1)))
struct PaletteTests {
    private func encode(_ pixels: PixelBuffer) throws -> [UInt8] {
        try ImageEncoder.encode(TestImages.makeImage(pixels), as: .png)
    }

    /// An image whose pixels are some colours in turn.
    private func pixels(_ colours: [SIMD4<UInt8>], side: Int = 24) throws -> PixelBuffer {
        let alpha: PixelBuffer.Alpha = colours.allSatisfy { $0.w == 255 } ? .opaque : .straight
        return try filled(side: side, alpha: alpha) { colours[$0 * 7 % colours.count] }
    }

    private func filled(
        side: Int,
        alpha: PixelBuffer.Alpha,
        colour: (Int) -> SIMD4<UInt8>
    ) throws -> PixelBuffer {
        try PixelBuffer(size: PixelSize(width: side, height: side), alpha: alpha) { memory, _ in
            for index in 0..<side * side {
                let colour = colour(index)
                for channel in 0..<4 { memory[4 * index + channel] = colour[channel] }
            }
        }
    }

    private static func grey(_ level: Int, alpha: Int = 255) -> SIMD4<UInt8> {
        SIMD4(UInt8(level), UInt8(level), UInt8(level), UInt8(alpha))
    }

    private static let reds = (0..<256).map { index -> SIMD4<UInt8> in SIMD4(UInt8(index), 9, 90, 255) }

    /// Colours, the bits of a sample, and the colour type.
    struct Form: Sendable {
        let name: String
        let colours: [SIMD4<UInt8>]
        let depth: Int
        let type: Int

        init(_ name: String, of colours: [SIMD4<UInt8>], depth: Int, type: Int) {
            self.name = name
            self.colours = colours
            self.depth = depth
            self.type = type
        }
    }

    private static func greys(_ levels: [Int]) -> [SIMD4<UInt8>] { levels.map { grey($0) } }

    /// Colour types (PNG, table 11.1): 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha.
    static let cases: [Form] = [
        Form("black and white", of: greys([0, 255]), depth: 1, type: 0),
        Form("quarters", of: greys([0, 85, 170, 255]), depth: 2, type: 0),
        Form("sixteenths", of: greys((0..<16).map { 17 * $0 }), depth: 4, type: 0),
        Form("grey", of: greys(Array(0..<256)), depth: 8, type: 0),
        Form("two greys between", of: greys([3, 200]), depth: 1, type: 3),
        Form("ten greys between", of: greys(Array(3..<13)), depth: 4, type: 3),
        Form("two colours", of: Array(reds.prefix(2)), depth: 1, type: 3),
        Form("four colours", of: Array(reds.prefix(4)), depth: 2, type: 3),
        Form("five colours", of: Array(reds.prefix(5)), depth: 4, type: 3),
        Form("17 colours", of: Array(reds.prefix(17)), depth: 8, type: 3),
        Form("256 colours", of: reds, depth: 8, type: 3),
        Form("257 colours", of: reds + [SIMD4(0, 0, 0, 255)], depth: 8, type: 2),
        Form(
            "transparent colours",
            of: [SIMD4(9, 8, 7, 255), SIMD4(1, 2, 3, 4), SIMD4(3, 2, 1, 255)],
            depth: 2,
            type: 3
        ),
        Form("many translucent greys", of: translucentGreys, depth: 8, type: 4),
        Form("many translucent colours", of: translucentColours, depth: 8, type: 6),
    ]

    private static let translucentGreys = (0..<272).map { index -> SIMD4<UInt8> in
        grey(16 * (index / 17), alpha: 15 * (index % 17))
    }
    private static let translucentColours = (0..<257).map { index -> SIMD4<UInt8> in
        let half = UInt8(index / 2)
        return SIMD4(UInt8(index % 256), 9, half, half)
    }

    @Test("F05 a PNG has the fewest bits that hold all pixels, which come back", arguments: cases.indices)
    func form(_ index: Int) throws {
        let example = Self.cases[index], pixels = try pixels(example.colours)
        let bytes = try encode(pixels)
        #expect(bytes[24] == example.depth && bytes[25] == example.type, "\(bytes[24]) bits of type \(bytes[25])")
        let decoded = try ImageDecoder.decode(bytes, options: .with { $0.premultipliesAlpha = false }).pixels
        #expect(decoded.bytes == pixels.bytes, "\(example.name)")
    }

    @Test("F05 alpha that is nowhere less than full is left out") func opaque() throws {
        let pixels = try filled(side: 40, alpha: .straight) { index in
            SIMD4(UInt8(index % 256), UInt8(index / 7 % 256), 3, 255)
        }
        let bytes = try encode(pixels)
        #expect(bytes[24] == 8 && bytes[25] == 2)
    }

    @Test(
        "F05 colours are reduced to a palette on request, near the pixels, for each frame",
        arguments: [2, 16, 255, 256]
    )
    func reduced(count: Int) throws {
        // 4,096 colours, half of them translucent.
        let pixels = try filled(side: 64, alpha: .straight) { index in
            SIMD4(UInt8(index % 64 * 4), UInt8(index / 64 * 4), 128, index % 2 == 0 ? 255 : 120)
        }
        var options = EncodeOptions()
        options.maximumColorCount = count
        let still = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .png, options: options)
        #expect(still[25] == 3)
        let colours = try ImageDecoder.decode(still, options: .stored).pixels.bytes
        #expect(Set(stride(from: 0, to: colours.count, by: 4).map { Array(colours[$0..<$0 + 4]) }).count <= count)
        // Dithered: the mean of a quarter of the image stays.
        let wanted = pixels.bytes, start = 32 * 64 * 4
        func mean(_ bytes: [UInt8]) -> Int {
            stride(from: start + 1, to: bytes.count, by: 4).reduce(0) { $0 + Int(bytes[$1]) } / (32 * 64)
        }
        if count > 2 { #expect(abs(mean(colours) - mean(wanted)) < 6) }
        let animation = TestImages.makeImage(pixels, try solidRed(side: 64), milliseconds: [20, 20])
        for format in [ImageFormat.png, .gif] {
            let bytes = try ImageEncoder.encode(animation, as: format, options: options)
            var all = DecodeOptions.stored
            all.frames = .all
            let frames = try ImageDecoder.decode(bytes, options: all).frames
            #expect(frames.map { $0.pixels[9, 9] }.dropFirst() == [[255, 0, 0, 255]])
        }
    }

    private func solidRed(side: Int) throws -> PixelBuffer {
        try filled(side: side, alpha: .straight) { _ in [255, 0, 0, 255] }
    }

    @Test("F05 the number of colours is from 2 to 256", arguments: [(1, false), (2, true), (256, true), (257, false)])
    func colourLimit(count: Int, isValid: Bool) throws {
        var options = EncodeOptions()
        options.maximumColorCount = count
        let code = errorCode { () throws(EideticError) in
            do {
                _ = try ImageEncoder.encode(TestImages.makeImage(try solidRed(side: 4)), as: .png, options: options)
            } catch let
                error as EideticError
            { throw error } catch {}
        }
        #expect(code == (isValid ? nil : .invalidArgument))
    }
}
