import EideticCodecs
import EideticCore
import Testing

/// A small file of each kind, made by the encoders or by hand.
struct Fixture: CustomTestStringConvertible, Sendable {
    let name: String
    let format: ImageFormat
    let bytes: [UInt8]
    var testDescription: String { name }

    static let all: [Fixture] = {
        do { return try make() } catch { fatalError("a fixture could not be made: \(error)") }
    }()

    private static func make() throws -> [Fixture] {
        let opaque = try Pictures.photo(37, 23), clear = try Pictures.photo(37, 23, alpha: .straight)
        let other = try Pictures.even(37, 23, [10, 200, 30, 255])
        let animation = Pictures.image(opaque, other, clear, loopCount: 3, milliseconds: [50, 10, 200])
        return [
            Fixture(name: "jpeg", format: .jpeg, bytes: try encode(opaque, .jpeg)),
            Fixture(name: "png rgb", format: .png, bytes: try encode(opaque, .png)),
            Fixture(name: "png rgba", format: .png, bytes: try encode(clear, .png)),
            Fixture(name: "png interlaced 16 bit", format: .png, bytes: deepInterlaced()),
            Fixture(name: "apng", format: .png, bytes: APNGs.threeFrames),
            Fixture(name: "webp lossy", format: .webp, bytes: try encode(opaque, .webp)),
            Fixture(name: "webp lossy with alpha", format: .webp, bytes: try encode(clear, .webp)),
            Fixture(name: "webp lossless", format: .webp, bytes: try encode(clear, .webp, quality: 1)),
            Fixture(name: "gif", format: .gif, bytes: try encode(opaque, .gif)),
            Fixture(name: "gif animation", format: .gif, bytes: try ImageEncoder.encode(animation, as: .gif)),
        ]
    }

    static func encode(_ pixels: PixelBuffer, _ format: ImageFormat, quality: Double = 0.85) throws -> [UInt8] {
        try ImageEncoder.encode(Pictures.image(pixels), as: format, quality: quality)
    }

    /// 3 x 2 grey pixels of 16 bits in seven passes: places 0, then none, none, 2, then 1, then the second row.
    private static func deepInterlaced() -> [UInt8] {
        var png = PNGWriter(width: 3, height: 2, depth: 16, colorType: 0, interlace: 1)
        png.pixels([0, 0, 0] + [0, 0x80, 0x80] + [0, 0xff, 0xff] + [0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc])
        return png.finished
    }
}

/// Animated PNGs.
enum APNGs {
    /// 4 x 4, three frames: red; a green square of 2 x 2 at (1, 1), then cleared; half-transparent blue over all.
    static let threeFrames: [UInt8] = {
        var png = PNGWriter(width: 4, height: 4, colorType: 6)
        png.chunk("acTL", png.big32(3) + png.big32(0))
        png.chunk("fcTL", control(0, 4, 4, 0, 0, numerator: 1, denominator: 2, dispose: 0, blend: 0))
        png.pixels(rows(4, 4, [255, 0, 0, 255]))
        png.chunk("fcTL", control(1, 2, 2, 1, 1, numerator: 5, denominator: 0, dispose: 1, blend: 0))
        png.chunk("fdAT", png.big32(2) + PNGWriter.zlib(rows(2, 2, [0, 255, 0, 255])))
        png.chunk("fcTL", control(3, 4, 4, 0, 0, numerator: 0, denominator: 100, dispose: 2, blend: 1))
        png.chunk("fdAT", png.big32(4) + PNGWriter.zlib(rows(4, 4, [0, 0, 255, 128])))
        return png.finished
    }()

    static func rows(_ width: Int, _ height: Int, _ colour: [UInt8]) -> [UInt8] {
        (0..<height).flatMap { _ in [0] + (0..<width).flatMap { _ in colour } }
    }

    static func control(
        _ sequence: Int,
        _ width: Int,
        _ height: Int,
        _ x: Int,
        _ y: Int,
        numerator: Int,
        denominator: Int,
        dispose: UInt8,
        blend: UInt8
    ) -> [UInt8] {
        let times = [numerator >> 8, numerator, denominator >> 8, denominator].map { UInt8(truncatingIfNeeded: $0) }
        let writer = PNGWriter(width: 1, height: 1)
        return [sequence, width, height, x, y].flatMap(writer.big32) + times + [dispose, blend]
    }
}
