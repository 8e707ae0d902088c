import EideticCodecs
import EideticCore
import Testing

@Suite("Crop by content")
struct ContentFocusTests {
    /// A calm gradient with a patch whose colours `colour` returns.
    private func scene(
        width: Int = 300,
        height: Int = 100,
        patch: PixelRect,
        colour: (Int, Int) -> [UInt8]
    ) throws -> PixelBuffer {
        try TestImages.makePixels(width: width, height: height, alpha: .opaque) { x, y in
            let isInside =
                (patch.x..<patch.x + patch.size.width).contains(x)
                && (patch.y..<patch.y + patch.size.height).contains(y)
            return isInside ? colour(x, y) : [UInt8(120 + x / 10), UInt8(130 + x / 10), UInt8(140 + y / 10), 255]
        }
    }

    private static func skin(_ x: Int, _ y: Int) -> [UInt8] { [UInt8(205 + (x + y) % 9), 150, 120, 255] }
    private static func edges(_ x: Int, _ y: Int) -> [UInt8] {
        (x / 5 + y / 5) % 2 == 0 ? [20, 20, 20, 255] : [230, 230, 230, 255]
    }
    private static func colours(_ x: Int, _ y: Int) -> [UInt8] { [230, 60, 200, 255] }

    private func crop(_ pixels: PixelBuffer, to size: PixelSize) throws -> PixelBuffer {
        try ImageTransforms.Resize(size, contentMode: .fillCropped(focus: .content)).apply(to: pixels)
    }

    @Test("F09 edges, saturated colours and skin stay in view, wherever they are", arguments: [0, 40, 130, 230, 260])
    func kinds(x: Int) throws {
        for colour in [Self.skin, Self.edges, Self.colours] {
            let patch = PixelRect(x: x, y: 20, width: 40, height: 50), pixels = try scene(patch: patch, colour: colour)
            let result = try crop(pixels, to: PixelSize(width: 100, height: 100))
            // The column of the image with which the crop begins.
            let left = try #require(
                (0...200).first { start in (0..<100).allSatisfy { result[$0, 45] == pixels[start + $0, 45] } }
            )
            #expect(left <= x && left + 100 >= x + 40, "the crop begins at \(left)")
        }
    }

    /// The widths of crops, and the checksums of their pixels for each kind of patch.
    private static let recordedChecksums: [Int: [UInt64]] = [
        100: [15_822_149_320_328_194_148, 15_588_074_047_694_265_518, 18_440_602_657_930_901_143],
        // A few cells wide.
        25: [12_089_049_769_711_872_522, 5_227_901_712_357_667_156, 18_221_369_363_255_276_975],
    ]

    @Test("F09 a crop has the recorded checksum, at every run and on every machine", arguments: [100, 25])
    func checksums(width: Int) throws {
        let patch = PixelRect(x: 187, y: 20, width: 40, height: 50)
        let checksums = try [Self.skin, Self.edges, Self.colours].map { colour in
            let result = try crop(try scene(patch: patch, colour: colour), to: PixelSize(width: width, height: 100))
            return result.bytes.withUnsafeBytes { Checksum.value(of: $0) }
        }
        #expect(checksums == Self.recordedChecksums[width])
    }

    @Test("F09 a small patch of a rare colour counts more than a large area of another one that stands out")
    func rare() throws {
        let size = PixelSize(width: 300, height: 100)
        let pixels = try TestImages.makePixels(width: size.width, height: size.height, alpha: .opaque) { x, y in
            // Wood, of the colour of skin, on the right half, and a kite on the left one.
            if x >= 150 { return [UInt8(190 + (x * 7 + y * 3) % 13), 130, 90, 255] }
            return (40..<65).contains(x) && (30..<55).contains(y) ? [250, 240, 40, 255] : [40, 80, 150, 255]
        }
        let result = try crop(pixels, to: PixelSize(width: 100, height: 100))
        #expect((0..<100).contains { result[$0, 37] == [250, 240, 40, 255] })
    }

    @Test("F09 a head at the top of a tall image stays in view")
    func tall() throws {
        let patch = PixelRect(x: 30, y: 10, width: 40, height: 50)
        let pixels = try scene(width: 100, height: 300, patch: patch, colour: Self.skin)
        let result = try crop(pixels, to: PixelSize(width: 100, height: 100))
        let top = try #require(
            (0...200).first { start in (0..<100).allSatisfy { result[50, $0] == pixels[50, start + $0] } }
        )
        #expect(top <= 10)
    }

    @Test("F09 an image without anything that stands out is cropped in the middle")
    func calm() throws {
        let pixels = try TestImages.solid(width: 301, height: 100, colour: [90, 90, 90, 255])
        let result = try crop(pixels, to: PixelSize(width: 50, height: 50))
        #expect(result.size == PixelSize(width: 50, height: 50))
    }

    @Test("F09 all frames of an animation are cropped alike, as the first one")
    func frames() throws {
        let left = try scene(patch: PixelRect(x: 0, y: 0, width: 40, height: 100), colour: Self.colours)
        let right = try scene(patch: PixelRect(x: 260, y: 0, width: 40, height: 100), colour: Self.colours)
        let gif = try ImageEncoder.encode(
            TestImages.makeImage(left, right, loopCount: nil, milliseconds: [100, 100]),
            as: .gif
        )
        let options = DecodeOptions.with {
            $0.size = PixelSize(width: 100, height: 100); $0.contentMode = .fillCropped(focus: .content);
            $0.frames = .all
        }
        let image = try ImageDecoder.decode(gif, options: options)
        #expect(image.frames.count == 2)
        #expect(image.frames[0].pixels[5, 50].y < 100)
        #expect(image.frames[1].pixels[95, 50].y > 100)
    }

    @Test(
        "F09 images of one pixel, of one row and of transparent pixels have a crop",
        arguments: [(1, 1), (500, 1), (1, 500), (70, 3)]
    )
    func extremes(width: Int, height: Int) throws {
        let pixels = try TestImages.makePixels(width: width, height: height, alpha: .straight) { _, _ in
            [200, 100, 50, 0]
        }
        #expect(try crop(pixels, to: PixelSize(width: 1, height: 1)).size == PixelSize(width: 1, height: 1))
    }
}
