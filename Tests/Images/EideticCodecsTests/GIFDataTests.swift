import EideticCodecs
import EideticCore
import Testing

/// Tiny GIF files, and data that ends early.
///
/// The right values are those of Chromium 156.
@Suite("Data of GIF", .timeLimit(.minutes(1)))
struct GIFDataTests {
    /// Returns a frame of 4 x 4 pixels whose codes have three bits each.
    private static func gif(codes: [UInt64]) -> [UInt8] {
        let bits = codes.reversed().reduce(0) { $0 << 3 | $1 }
        let data = (0..<(codes.count * 3 + 7) / 8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
        let blocks = data.isEmpty ? [] : [UInt8(data.count)] + data
        return GIFWriter.head(width: 4, height: 4) + [0x2c, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2] + blocks + [0, 0x3b]
    }

    @Test("F02 the transparent GIF of 26 bytes is one transparent pixel") func tiny() throws {
        let file: [UInt8] =
            Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 0x3b]
        #expect(file.count == 26)
        let image = try ImageDecoder.decode(file, options: DecodeOptions())
        #expect(image.size == PixelSize(width: 1, height: 1) && image.pixels[0, 0] == [0, 0, 0, 0])
        #expect(!image.isPartial)
    }

    @Test("F02 a GIF of one pixel that ends anywhere in its data is transparent", arguments: 22...33)
    func tinyEnd(count: Int) throws {
        // Pages have that of 23 bytes and that of 32 as placeholders.
        let header = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0]
        let control: [UInt8] = [0x21, 0xf9, 4, 1, 0, 0, 0, 0]
        let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2]
        let file = Array((header + (count < 26 ? [] : control) + frame).prefix(count))
        guard count != 22, count < 26 || count > 30 else {
            #expect(errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(file) } == .truncated)
            return
        }
        // Chromium 156.
        let image = try ImageDecoder.decode(file)
        #expect(image.size == PixelSize(width: 1, height: 1) && image.pixels[0, 0] == [0, 0, 0, 0] && !image.isPartial)
        // One of more pixels lacks something.
        var larger = file
        larger[count < 26 ? 18 : 26] = 2
        #expect(errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(larger) } == .truncated)
    }

    @Test(
        "F02 where the data of a GIF ends early, the rest is transparent",
        arguments: [([4, 1, 1, 5], 2), ([4, 5], 0), ([], 0)] as [([UInt64], Int)]
    )
    func earlyEnd(codes: [UInt64], count: Int) throws {
        let image = try ImageDecoder.decode(Self.gif(codes: codes), options: DecodeOptions())
        for x in 0..<4 { #expect(image.pixels[x, 0] == (x < count ? [0, 255, 0, 255] : [0, 0, 0, 0])) }
        #expect(!image.isPartial)
    }

    @Test(
        "F03 a frame whose data ends early lets the one before through, in any order",
        arguments: [[1, 0, 1], [0, 1]]
    )
    func earlyFrame(order: [Int]) throws {
        let first = Array(Self.gif(codes: [4] + Array(repeating: 1, count: 3) + [5]).dropLast())
        let last = Self.gif(codes: [4, 2, 5]).dropFirst(25)
        let decoder = try #require(
            try AnimationDecoder(first + last, isComplete: true, options: DecodeOptions(), limits: DecodeLimits())
        )
        for index in order {
            let pixels = try decoder.frame(at: index, context: JobContext())
            #expect(pixels[1, 0] == [0, 255, 0, 255] && pixels[0, 0].z == (index == 1 ? 255 : 0))
        }
    }

    @Test("F02 a whole row of a coarse pass stands for those below it that are missing") func interlaced() throws {
        // Five pixels: the rows are stored in the order 0, 2, 1, 3.
        var file = Self.gif(codes: [4, 1, 1, 4, 1, 1, 4, 2, 5])
        file[34] = 0x40
        let pixels = try ImageDecoder.decode(file, options: DecodeOptions()).pixels
        for y in 0..<4 { #expect(pixels[3, y] == [0, 255, 0, 255]) }
        #expect(pixels[0, 2] == [0, 0, 255, 255] && pixels[1, 2] == [0, 255, 0, 255])
        #expect(pixels[0, 3] == [0, 255, 0, 255])
    }

    @Test("F03 what the data of the first frame leaves out is transparent while the animation plays")
    func earlyFirstFrame() throws {
        let file = Self.gif(codes: [4, 1, 5]).dropLast() + Self.gif(codes: [4, 2, 5]).dropFirst(25)
        let image = try ImageDecoder.decode(Array(file), options: .with { $0.frames = .all })
        let decoder = try #require(
            try AnimationDecoder(Array(file), isComplete: true, options: DecodeOptions(), limits: DecodeLimits())
        )
        for index in 0..<2 {
            for pixels in [image.frames[index].pixels, try decoder.frame(at: index, context: JobContext())] {
                #expect(pixels.alpha != .opaque && pixels[3, 3] == [0, 0, 0, 0])
            }
        }
    }

    @Test(
        "F07 rows of a frame below the screen are left out, of an interlaced one too",
        arguments: [UInt8(3), 4],
        [UInt8(0), 0x40]
    )
    func leavesScreen(y: UInt8, flags: UInt8) throws {
        let codes = Array(repeating: [4, 1, 1] as [UInt64], count: 6).flatMap(\.self) + [5]
        var file = Self.gif(codes: [4, 2, 5]).dropLast() + Self.gif(codes: codes).dropFirst(25)
        let frame = try #require(file.lastIndex(of: 0x2c))
        file[frame + 3] = y
        file[frame + 9] = flags
        let image = try ImageDecoder.decode(Array(file), options: .with { $0.frames = .all })
        let decoder = try #require(
            try AnimationDecoder(Array(file), isComplete: true, options: DecodeOptions(), limits: DecodeLimits())
        )
        for pixels in [image.frames[1].pixels, try decoder.frame(at: 1, context: JobContext())] {
            #expect(pixels[3, 2] == [0, 0, 0, 0] && pixels[3, 3] == (y == 3 ? [0, 255, 0, 255] : [0, 0, 0, 0]))
        }
    }

    @Test("F02 an index without a colour is black, in a file with a palette and without one", arguments: [true, false])
    func noColour(hasPalette: Bool) throws {
        var file = Self.gif(codes: [4, 3, 1, 5])
        file[10] = hasPalette ? 0x80 : 0
        file.removeSubrange((hasPalette ? 19 : 13)..<25)
        let image = try ImageDecoder.decode(file, options: DecodeOptions())
        #expect(image.pixels[0, 0] == [0, 0, 0, 255])
        #expect(image.pixels[1, 0] == (hasPalette ? [0, 255, 0, 255] : [0, 0, 0, 255]))
    }

    @Test("F07 data of a GIF that ends without an end code is corrupt") func missingCodes() {
        let error = #expect(throws: EideticError.self) {
            _ = try ImageDecoder.decode(Self.gif(codes: [4, 1, 1]), options: DecodeOptions())
        }
        #expect(error?.code == .corrupt)
    }
}
