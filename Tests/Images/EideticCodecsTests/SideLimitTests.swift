import EideticCodecs
import EideticCore
import Testing

@Suite("Limits of sides, and of resampling", .timeLimit(.minutes(1)))
struct SideLimitTests {
    private func bmp(width: Int, height: Int = 1) -> [UInt8] {
        makeBMP(
            width: Int32(width),
            height: Int32(height),
            bitsPerPixel: 1,
            tables: [0, 0xff_ffff],
            pixels: Array(repeating: 0x55, count: (width + 31) / 32 * 4 * height)
        )
    }

    @Test("C18 a bitmap with a side of 134,217,728 pixels is refused by its header") func hugeSide() {
        let file = makeBMP(width: 1 << 27, height: 1, bitsPerPixel: 1, tables: [0, 1], pixels: [0, 0])
        let error = #expect(throws: EideticError.self) { _ = try ImageDecoder.workingMemory(for: file) }
        #expect(error?.code == .limitExceeded && error?.message.contains("1000000") == true)
    }

    @Test("C18 the limit on sides is inclusive, for the width and the height", arguments: [49, 50, 51])
    func side(limit: Int) {
        var limits = DecodeLimits()
        limits.sideLength = limit
        for file in [bmp(width: 50, height: 2), bmp(width: 2, height: 50)] {
            let code = errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(file, limits: limits) }
            #expect(code == (limit < 50 ? .limitExceeded : nil))
        }
    }

    @Test("C18 the memory of resampling counts") func memory() throws {
        let file = bmp(width: 3_000, height: 2_000)
        var options = DecodeOptions()
        let full = try ImageDecoder.workingMemory(for: file)
        // Two thirds: eleven rows are weighted, and the window of filtered rows has at least twice as many, of 2,000
        // pixels of eight bytes.
        options.size = PixelSize(width: 2_000, height: 2_000)
        let window = try ImageDecoder.workingMemory(for: file, options: options) - full
        #expect((8 * 2_000 * 22..<8 * 2_000 * 200).contains(window))
        options.size = PixelSize(width: 30, height: 20)
        #expect(try ImageDecoder.workingMemory(for: file, options: options) >= full + 8 * 3_000)
    }

    @Test("C18 resampling has checkpoints between rows, at each of which it can end")
    func checkpoints() throws {
        let pixels = try PixelBuffer(size: PixelSize(width: 4_096, height: 2_048), alpha: .opaque) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 90)
        }
        for size in [PixelSize(width: 3_000, height: 1_500), PixelSize(width: 100, height: 50)] {
            var count = 0
            let complete = try Resampler.resample(pixels, to: size) { count += 1 }
            #expect(complete.size == size && complete[7, 7] == [90, 90, 90, 90])
            #expect(count >= 8)
            for last in [1, count / 2, count] {
                var remaining = last
                let error = #expect(throws: EideticError.self) {
                    _ = try Resampler.resample(pixels, to: size) { () throws(EideticError) in
                        remaining -= 1
                        if remaining == 0 { throw .cancelled }
                    }
                }
                #expect(error?.code == .cancelled && remaining == 0)
            }
        }
    }

    @Test("C18 a wide bitmap that is scaled down to a number of bytes ends at the time limit") func deadline() {
        var options = DecodeOptions(), limits = DecodeLimits()
        options.byteLimit = ByteCount(400_000)
        limits.duration = .zero
        let code = errorCode { () throws(EideticError) in
            _ = try ImageDecoder.decode(bmp(width: 1_000_000), options: options, limits: limits)
        }
        #expect(code == .limitExceeded)
    }
}
