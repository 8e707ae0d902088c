import EideticCodecs
import EideticCore
import Testing

/// The expected values are those of the implementations in Python (blurhash 1.1.5, thumbhash 0.1.2).
@Suite("Placeholders")
struct PlaceholderTests {
    private func pixels(_ width: Int, _ height: Int, alpha: PixelBuffer.Alpha = .opaque) throws -> PixelBuffer {
        try TestImages.makePixels(width: width, height: height, alpha: alpha) { x, y in
            let opacity = alpha == .opaque ? 255 : UInt8(truncatingIfNeeded: x * 7 + y * 11)
            return [
                UInt8(truncatingIfNeeded: x * 5 + y * 3), UInt8(truncatingIfNeeded: x * y),
                255 - UInt8(truncatingIfNeeded: x * 2 + y), opacity,
            ]
        }
    }

    @Test(
        "F08 a BlurHash is that of the reference",
        arguments: [
            (40, 30, 4, 3, "LiHd^Q1Bi*ryIfV{w{SzRCsoS{t4"), (40, 30, 1, 1, "00Hd^Q"),
            (30, 40, 4, 3, "LYGk-s1Bm[i,5cw5oLX8m@oLXPow"), (100, 10, 4, 3, "L#HUI:I$a85=rfWGW;X7a5kBbskA"),
        ]
    )
    func blurHash(width: Int, height: Int, across: Int, down: Int, expected: String) throws {
        let components = PixelSize(width: across, height: down)
        #expect(try BlurHash.encode(pixels(width, height), components: components) == expected)
    }

    @Test(
        "F08 a BlurHash has the colours of the reference",
        arguments: [
            ("LEHV6nWB2yk8pyo0adR*.7kCMdnj", [[135, 164, 177], [158, 125, 108], [139, 143, 146]]),
            ("LKO2:N%2Tw=w]~RBVZRi};RPxuwH", [[251, 192, 161], [196, 160, 159], [194, 181, 173]]),
            ("LGF5]+Yk^6#M@-5c,1J5@[or[Q6.", [[176, 118, 163], [107, 126, 130], [119, 106, 122]]),
            ("00TI:j", [[255, 0, 0], [255, 0, 0], [255, 0, 0]]),
        ]
    )
    func decodesBlurHash(text: String, expected: [[Int]]) throws {
        let result = try BlurHash.decode(text, size: PixelSize(width: 8, height: 6))
        for (colour, position) in zip(expected, [(0, 0), (4, 3), (7, 5)]) {
            let pixel = result[position.0, position.1]
            for channel in 0..<3 { #expect(abs(Int(pixel[channel]) - colour[channel]) <= 1, "\(text): \(pixel)") }
        }
    }

    @Test(
        "F08 a ThumbHash is that of the reference",
        arguments: [
            (40, 30, PixelBuffer.Alpha.opaque, "ZDUGVYpAVmdTeYmUl2eXhmB0Bomn"),
            (30, 40, .opaque, "JDUGRQhQZWGIWIhZmIZoeGByBj3Z"),
            (100, 10, .opaque, "3zYKcYppUHp0h1mIcHZn/Ng="), (33, 33, .straight, "ZDWGJQQYUGaBiKdpWHCCCF3YVHmIZxlicA=="),
            (20, 50, .straight, "5CSGGgQXUXBYiWphcHYNuoeHaHd2mAQ="),
        ]
    )
    func thumbHash(width: Int, height: Int, alpha: PixelBuffer.Alpha, expected: String) throws {
        #expect(Base64.encode(try ThumbHash.encode(pixels(width, height, alpha: alpha))) == expected)
    }

    @Test(
        "F08 a ThumbHash has the proportions and the mean colour of its image",
        arguments: [
            ("1QcSHQRnh493V4dIh4eXh1h4kJUI", 23, 32, [86, 82, 88]),
            ("3PcNNYSFeXh/d3eld0iHZoZgVwh2", 32, 23, [110, 114, 116]),
        ]
    )
    func decodesThumbHash(text: String, width: Int, height: Int, expected: [Int]) throws {
        let result = try ThumbHash.decode(try #require(Base64.decode(text)))
        #expect(result.size == PixelSize(width: width, height: height))
        for channel in 0..<3 {
            let bytes = stride(from: channel, to: result.bytes.count, by: 4).map { Int(result.bytes[$0]) }
            #expect(abs(bytes.reduce(0, +) / bytes.count - expected[channel]) <= 2)
        }
    }

    @Test("F08 the blurred images are like their source", arguments: [(64, 48), (48, 64), (400, 90)])
    func likeSource(width: Int, height: Int) throws {
        let source = try TestImages.photo(width: width, height: height)
        let thumb = try ThumbHash.decode(try ThumbHash.encode(source))
        #expect(signalToNoiseRatio(thumb, try Resampler.resample(source, to: thumb.size)) > 18)
        let blurred = try BlurHash.decode(try BlurHash.encode(source), size: thumb.size)
        #expect(signalToNoiseRatio(blurred, try Resampler.resample(source, to: thumb.size)) > 17)
    }

    @Test("F08 a ThumbHash has the alpha of its image, and the colour of what is visible")
    func alpha() throws {
        let clear = try TestImages.makePixels(width: 64, height: 48, alpha: .straight) { x, _ in
            x < 32 ? [0, 0, 0, 0] : [250, 20, 20, 255]
        }
        let result = try ThumbHash.decode(try ThumbHash.encode(clear)), width = result.size.width
        let alphas = (0..<width).map { Int(result[$0, 5].w) }
        #expect(
            alphas.prefix(width / 2).reduce(0, +) < 40 * width && alphas.suffix(width / 2).reduce(0, +) > 87 * width
        )
        let visible = result[width * 3 / 4, 5]
        #expect(Int(visible.x) > 4 * Int(visible.y) && visible.x > 150, "\(visible)")
    }

    @Test("F08 text and bytes that are no hash are errors, and no text stops the program")
    func invalid() throws {
        for text in [
            "", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj", "00TI:\\", "00~~~~", "~0TI:j", "ü",
        ] {
            #expect(
                errorCode { () throws(EideticError) in _ = try BlurHash.decode(text) } == .invalidArgument,
                "\(text)"
            )
        }
        #expect(
            errorCode { () throws(EideticError) in
                _ = try BlurHash.decode("00TI:j", size: PixelSize(width: 0, height: 4_097))
            } == .invalidArgument
        )
        for side in [512, 513] {
            let code = errorCode { () throws(EideticError) in
                _ = try BlurHash.decode("00TI:j", size: PixelSize(width: side, height: 1))
            }
            #expect(code == (side == 512 ? nil : .invalidArgument))
        }
        for punch in [Double.nan, .infinity] {
            let code = errorCode { () throws(EideticError) in
                _ = try BlurHash.decode("LEHV6nWB2yk8pyo0adR*.7kCMdnj", punch: punch)
            }
            #expect(code == .invalidArgument)
        }
        let pixels = try pixels(8, 8)
        for wrong in [PixelSize(width: 0, height: 1), PixelSize(width: 1, height: 10)] {
            #expect(
                errorCode { () throws(EideticError) in _ = try BlurHash.encode(pixels, components: wrong) }
                    == .invalidArgument
            )
        }
        var generator = Generator(seed: 7)
        for count in 0..<40 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try? ThumbHash.decode(bytes)
            _ = try? BlurHash.decode(String(decoding: bytes, as: UTF8.self))
        }
        #expect(errorCode { () throws(EideticError) in _ = try ThumbHash.decode([1, 2, 3, 4]) } == .invalidArgument)
    }

    @Test("F08 the dominant colour is that of the largest area of like colours, not the mean")
    func dominant() throws {
        let pixels = try TestImages.makePixels(width: 30, height: 10, alpha: .opaque) { x, y in
            x < 18 ? [200, UInt8(30 + y % 3), 40, 255] : x < 24 ? [20, 220, 30, 255] : [10, 20, 230, 255]
        }
        let colour = try pixels.dominantColor()
        #expect(abs(Int(colour.red) - 200) < 3 && abs(Int(colour.green) - 31) < 3 && abs(Int(colour.blue) - 40) < 3)
        #expect(try TestImages.solid(width: 3, height: 3, colour: [9, 9, 9, 0]).dominantColor() == .clear)
    }
}
