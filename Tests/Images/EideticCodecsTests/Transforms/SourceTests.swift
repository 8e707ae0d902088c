import EideticCodecs
import EideticCore
import Testing

@Suite("Transforms of decoded files", .timeLimit(.minutes(1)))
struct SourceTests {
    /// Returns a PNG of 40 × 20 stored pixels, red on the left and blue on the right, whose profile exchanges red and
    /// green.
    private static func png(orientation: UInt8) -> [UInt8] {
        var png = PNGWriter(width: 40, height: 20, colorType: 2)
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + PNGWriter.zlibStream(of: profile))
        png.addChunk("eXIf", content: OrientationTests.exif(orientation: orientation, isLittleEndian: true))
        let left: [UInt8] = [250, 10, 10], right: [UInt8] = [10, 10, 250]
        let row: [UInt8] = [0] + (0..<40).flatMap { $0 < 20 ? left : right }
        png.addPixels((0..<20).flatMap { _ in row })
        return png.finished
    }

    @Test(
        "F06 orientation and colour survive transforms and a new file",
        arguments: [ImageFormat.png, .webp, .jpeg],
        ImageOrientation.allCases
    )
    func survives(format: ImageFormat, orientation: ImageOrientation) throws {
        let image = try ImageDecoder.decode(Self.png(orientation: UInt8(orientation.rawValue)))
        let chain = TransformChain([.resize(PixelSize(width: 20, height: 20)), .flip(), .flip()])
        let file = try ImageEncoder.encode(try chain.apply(to: image), as: format, quality: 0.95)
        let header = try #require(try ImageDecoder.header(of: file)), result = try ImageDecoder.decode(file)
        let isTurned = orientation.swapsDimensions
        #expect(
            header.orientation == .up && header.size == PixelSize(width: isTurned ? 10 : 20, height: isTurned ? 20 : 10)
        )
        // The first half of the stored row is at this end of the upright image; its colour is green in sRGB.
        let isAtEnd = [.upMirrored, .down, .rightMirrored, .left].contains(orientation)
        let (green, blue) =
            isTurned
            ? (result.pixels[5, isAtEnd ? 16 : 3], result.pixels[5, isAtEnd ? 3 : 16])
            : (result.pixels[isAtEnd ? 16 : 3, 5], result.pixels[isAtEnd ? 3 : 16, 5])
        #expect(green.y > 200 && green.x < 90 && green.z < 90, "\(orientation): \(green)")
        #expect(blue.z > 200 && blue.y < 90, "\(orientation): \(blue)")
    }
}
