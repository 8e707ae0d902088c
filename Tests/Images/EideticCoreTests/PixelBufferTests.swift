import EideticCore
import Testing

@Suite("Pixel buffer")
struct PixelBufferTests {
    @Test("F07 sizes out of range are rejected before memory is allocated")
    func refuses() {
        for size in [PixelSize(width: 0, height: 1), PixelSize(width: 1 << 30, height: 1 << 30)] {
            let error = #expect(throws: EideticError.self) {
                try PixelBuffer(size: size, alpha: .opaque) { _, _ in Issue.record("filled") }
            }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test("L12 pixels are stored where they were written, and the cost is their memory")
    func keeps() throws {
        let buffer = try PixelBuffer(size: PixelSize(width: 3, height: 2), alpha: .straight) { pixels, bytesPerRow in
            for index in 0..<pixels.count { pixels[index] = UInt8(index) }
            #expect(bytesPerRow == 12)
        }
        #expect(buffer[2, 1] == SIMD4(20, 21, 22, 23))
        let frames = [Image.Frame(pixels: buffer), Image.Frame(pixels: buffer)]
        #expect(Image(frames: frames, format: .gif, sourceSize: buffer.size).cost == 48)
    }

    @Test("F07 an error of the fill closure is rethrown")
    func fails() {
        let error = #expect(throws: EideticError.self) {
            try PixelBuffer(size: PixelSize(width: 1, height: 1), alpha: .opaque) {
                _,
                _ throws(EideticError) in throw EideticError(.corrupt, message: "broken")
            }
        }
        #expect(error?.message == "broken")
    }
}
