import EideticCodecs
import EideticCore
import Testing

/// A small encoded image, made by the encoders or by hand.
struct Fixture: CustomTestStringConvertible, Sendable {
    let name: String
    let format: ImageFormat
    let bytes: [UInt8]
    var testDescription: String { name }

    static let standard: [Fixture] = {
        do { return try makeStandard() } catch { fatalError("a fixture could not be created: \(error)") }
    }()

    private static func makeStandard() throws -> [Fixture] {
        let opaque = try TestImages.photo(width: 37, height: 23),
            clear = try TestImages.photo(width: 37, height: 23, alpha: .straight)
        let green = try TestImages.solid(width: 37, height: 23, colour: [10, 200, 30, 255])
        let animation = TestImages.makeImage(opaque, green, clear, loopCount: 3, milliseconds: [50, 10, 200])
        return [
            Fixture(name: "jpeg", format: .jpeg, bytes: try encode(opaque, as: .jpeg)),
            Fixture(name: "png rgb", format: .png, bytes: try encode(opaque, as: .png)),
            Fixture(name: "png rgba", format: .png, bytes: try encode(clear, as: .png)),
            Fixture(name: "png interlaced 16 bit", format: .png, bytes: deepInterlaced()),
            Fixture(name: "apng", format: .png, bytes: APNGFixtures.threeFrames),
            Fixture(name: "webp lossy", format: .webp, bytes: try encode(opaque, as: .webp)),
            Fixture(name: "webp lossy with alpha", format: .webp, bytes: try encode(clear, as: .webp)),
            Fixture(name: "webp lossless", format: .webp, bytes: try encode(clear, as: .webp, quality: 1)),
            Fixture(name: "gif", format: .gif, bytes: try encode(opaque, as: .gif)),
            Fixture(name: "gif animation", format: .gif, bytes: try ImageEncoder.encode(animation, as: .gif)),
        ]
    }

    static func encode(_ pixels: PixelBuffer, as format: ImageFormat, quality: Double = 0.85) throws -> [UInt8] {
        try ImageEncoder.encode(TestImages.makeImage(pixels), as: format, quality: quality)
    }

    /// Returns 3 x 2 grey pixels of 16 bits in seven passes: pixel 0; two empty passes; pixel 2; pixel 1; the second
    /// row.
    private static func deepInterlaced() -> [UInt8] {
        var png = PNGWriter(width: 3, height: 2, depth: 16, colorType: 0, interlace: 1)
        png.addPixels([0, 0, 0] + [0, 0x80, 0x80] + [0, 0xff, 0xff] + [0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc])
        return png.finished
    }
}
