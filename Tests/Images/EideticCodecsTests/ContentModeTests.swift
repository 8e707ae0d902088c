import EideticCodecs
import EideticCore
import Testing

@Suite("Content modes")
struct ContentModeTests {
    /// 80 × 60 pixels in a lossless format whose red is the column and whose green is the row.
    private func gradient() throws -> [UInt8] {
        let size = PixelSize(width: 80, height: 60)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { memory, stride in
            for y in 0..<60 {
                for x in 0..<80 {
                    let pixel = SIMD4(UInt8(x), UInt8(y), 0, 255)
                    memory.storeBytes(of: pixel, toByteOffset: y * stride + 4 * x, as: SIMD4<UInt8>.self)
                }
            }
        }
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
        return try ImageEncoder.encode(image, as: .png)
    }

    private func decode(width: Int, height: Int, mode: ContentMode) throws -> Image {
        var options = DecodeOptions()
        (options.size, options.contentMode) = (PixelSize(width: width, height: height), mode)
        return try ImageDecoder.decode(try gradient(), options: options)
    }

    @Test(
        "F06 F04 fillCropped crops what exceeds the target around its focus",
        arguments: [
            (CropFocus.center, 10), (.point(x: 0, y: 0), 0), (.point(x: 1, y: 1), 20), (.point(x: 0.25, y: 0), 0),
            (.point(x: 0.6, y: 0), 18), (.point(x: -7, y: 0), 0), (.point(x: .nan, y: .infinity), 10),
        ]
    )
    func fills(focus: CropFocus, firstColumn: Int) throws {
        let image = try decode(width: 60, height: 60, mode: .fillCropped(focus: focus))
        #expect(image.size == PixelSize(width: 60, height: 60))
        #expect(image.sourceSize == PixelSize(width: 80, height: 60))
        #expect(image.pixels[0, 0] == SIMD4(UInt8(firstColumn), 0, 0, 255))
        #expect(image.pixels[59, 59] == SIMD4(UInt8(firstColumn + 59), 59, 0, 255))
    }

    @Test("F06 a smaller image than the target is cropped to its proportions, and not enlarged")
    func neverEnlarges() throws {
        let image = try decode(width: 600, height: 200, mode: .fillCropped())
        #expect(image.size == PixelSize(width: 80, height: 27))
        #expect(image.pixels[0, 0].y == 17)
        #expect(try decode(width: 600, height: 200, mode: .stretch).size == PixelSize(width: 80, height: 27))
        #expect(try decode(width: 600, height: 200, mode: .fill).size == PixelSize(width: 80, height: 60))
    }

    @Test("F06 stretch has the size of the target, and the whole image in it")
    func stretches() throws {
        let image = try decode(width: 20, height: 60, mode: .stretch)
        #expect(image.size == PixelSize(width: 20, height: 60))
        #expect(image.pixels[0, 30].y == 30)
        #expect(abs(Int(image.pixels[10, 30].x) - 41) <= 1)
    }

    @Test("F06 fillCropped scales before it crops")
    func scales() throws {
        let image = try decode(width: 30, height: 30, mode: .fillCropped())
        #expect(image.size == PixelSize(width: 30, height: 30))
        #expect(abs(Int(image.pixels[0, 0].x) - 10) <= 1)
        #expect(abs(Int(image.pixels[29, 29].x) - 69) <= 1)
    }
}
