import EideticCodecs
import EideticCore
import Testing

/// A small file of each kind, made by the encoders or by hand.
struct Fixture: CustomTestStringConvertible, Sendable {
    let name: String
    let format: ImageFormat
    let bytes: [UInt8]
    var testDescription: String { name }

    static let standard: [Fixture] = {
        do { return try makeStandard() } catch { fatalError("a fixture could not be made: \(error)") }
    }()

    private static func makeStandard() throws -> [Fixture] {
        let opaque = try TestImages.photo(width: 37, height: 23),
            clear = try TestImages.photo(width: 37, height: 23, alpha: .straight)
        let green = try TestImages.solid(width: 37, height: 23, colour: [10, 200, 30, 255])
        let animation = TestImages.makeImage(opaque, green, clear, loopCount: 3, milliseconds: [50, 10, 200])
        return [
            Fixture(name: "jpeg", format: .jpeg, bytes: try encode(opaque, .jpeg)),
            Fixture(name: "png rgb", format: .png, bytes: try encode(opaque, .png)),
            Fixture(name: "png rgba", format: .png, bytes: try encode(clear, .png)),
            Fixture(name: "png interlaced 16 bit", format: .png, bytes: deepInterlaced()),
            Fixture(name: "apng", format: .png, bytes: APNGFixtures.threeFrames),
            Fixture(name: "webp lossy", format: .webp, bytes: try encode(opaque, .webp)),
            Fixture(name: "webp lossy with alpha", format: .webp, bytes: try encode(clear, .webp)),
            Fixture(name: "webp lossless", format: .webp, bytes: try encode(clear, as: .webp, quality: 1)),
            Fixture(name: "gif", format: .gif, bytes: try encode(opaque, .gif)),
            Fixture(name: "gif animation", format: .gif, bytes: try ImageEncoder.encode(animation, as: .gif)),
        ]
    }

    static func encode(_ pixels: PixelBuffer, as format: ImageFormat, quality: Double = 0.85) throws -> [UInt8] {
        try ImageEncoder.encode(TestImages.makeImage(pixels), as: format, quality: quality)
    }

    /// 3 x 2 grey pixels of 16 bits in seven passes: places 0, then none, none, 2, then 1, then the second row.
    private static func deepInterlaced() -> [UInt8] {
        var png = PNGWriter(width: 3, height: 2, depth: 16, colorType: 0, interlace: 1)
        png.addPixels([0, 0, 0] + [0, 0x80, 0x80] + [0, 0xff, 0xff] + [0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc])
        return png.finished
    }
}

/// Animated PNGs.
enum APNGFixtures {
    /// 4 x 4, three frames: red; a green square of 2 x 2 at (1, 1), then cleared; half-transparent blue over all.
    static let threeFrames: [UInt8] = {
        var png = PNGWriter(width: 4, height: 4, colorType: 6)
        png.addChunk("acTL", content: png.bigEndian(3) + png.bigEndian(0))
        png.addChunk(
            "fcTL",
            content: frameControl(
                sequence: 0,
                width: 4,
                height: 4,
                x: 0,
                y: 0,
                numerator: 1,
                denominator: 2,
                disposal: 0,
                blend: 0
            )
        )
        png.addPixels(rows(width: 4, height: 4, colour: [255, 0, 0, 255]))
        png.addChunk(
            "fcTL",
            content: frameControl(
                sequence: 1,
                width: 2,
                height: 2,
                x: 1,
                y: 1,
                numerator: 5,
                denominator: 0,
                disposal: 1,
                blend: 0
            )
        )
        png.addChunk(
            "fdAT",
            content: png.bigEndian(2) + PNGWriter.zlibStream(of: rows(width: 2, height: 2, colour: [0, 255, 0, 255]))
        )
        png.addChunk(
            "fcTL",
            content: frameControl(
                sequence: 3,
                width: 4,
                height: 4,
                x: 0,
                y: 0,
                numerator: 0,
                denominator: 100,
                disposal: 2,
                blend: 1
            )
        )
        png.addChunk(
            "fdAT",
            content: png.bigEndian(4) + PNGWriter.zlibStream(of: rows(width: 4, height: 4, colour: [0, 0, 255, 128]))
        )
        return png.finished
    }()

    static func rows(width: Int, height: Int, colour: [UInt8]) -> [UInt8] {
        (0..<height).flatMap { _ in [0] + (0..<width).flatMap { _ in colour } }
    }

    static func frameControl(
        sequence: Int,
        width: Int,
        height: Int,
        x: Int,
        y: Int,
        numerator: Int,
        denominator: Int,
        disposal: UInt8,
        blend: UInt8
    ) -> [UInt8] {
        let times = [numerator >> 8, numerator, denominator >> 8, denominator].map { UInt8(truncatingIfNeeded: $0) }
        let writer = PNGWriter(width: 1, height: 1)
        return [sequence, width, height, x, y].flatMap(writer.bigEndian) + times + [disposal, blend]
    }
}
