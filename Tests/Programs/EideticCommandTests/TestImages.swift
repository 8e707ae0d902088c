import EideticCodecs
import EideticCore

/// Images for tests.
enum TestImages {
    /// Returns an image of one colour.
    static func plain(_ color: SIMD4<UInt8>, width: Int, height: Int) throws(EideticError) -> Image {
        try image(width: width, height: height) { _, _ in color }
    }

    /// Returns a gradient: red increases to the right, green downwards.
    static func gradient(width: Int, height: Int) throws(EideticError) -> Image {
        try image(width: width, height: height) { x, y in
            SIMD4(UInt8(255 * x / width), UInt8(255 * y / height), 128, 255)
        }
    }

    static func image(
        width: Int,
        height: Int,
        color: (Int, Int) -> SIMD4<UInt8>
    ) throws(EideticError) -> Image {
        let size = PixelSize(width: width, height: height)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { bytes, bytesPerRow throws(EideticError) in
            for y in 0..<height {
                for x in 0..<width {
                    bytes.storeBytes(of: color(x, y), toByteOffset: y * bytesPerRow + 4 * x, as: SIMD4<UInt8>.self)
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
    }

    /// Returns an encoded gradient.
    static func encoded(as format: ImageFormat, width: Int = 64, height: Int = 48) throws(EideticError) -> [UInt8] {
        try ImageEncoder.encode(gradient(width: width, height: height), as: format)
    }

    /// Returns a GIF whose frames have one colour each.
    static func animation(frameCount: Int, width: Int = 64, height: Int = 48) throws(EideticError) -> [UInt8] {
        var frames: [Image.Frame] = []
        for index in 0..<frameCount {
            let color = SIMD4<UInt8>(UInt8(40 * index), 100, 200, 255)
            let pixels = try plain(color, width: width, height: height).pixels
            frames.append(Image.Frame(pixels: pixels, duration: .milliseconds(100)))
        }
        let size = PixelSize(width: width, height: height)
        return try ImageEncoder.encode(Image(frames: frames, format: .gif, sourceSize: size), as: .gif)
    }

    /// Returns a small PNG that declares this size.
    static func hugePNG(width: UInt32, height: UInt32) -> [UInt8] {
        let data = chunk("IDAT", content: [0x78, 0x9c, 0x63, 0, 0, 0, 1, 0, 1])
        return png(width: width, height: height, colorType: 6, chunks: data)
    }

    /// A grey pixel in the shortest PNG there is, but for a byte or two of its stream.
    static var greyPixelPNG: [UInt8] {
        png(width: 1, height: 1, colorType: 0, chunks: chunk("IDAT", content: greyPixel(128)))
    }

    /// An animation of two grey pixels, 10 and 20, beside a default image of 200.
    static var animationBesideImage: [UInt8] {
        let image = chunk("IDAT", content: greyPixel(200))
        let frames = [UInt8(10), 20].enumerated().flatMap { index, value in
            let number = bigEndianBytes(UInt32(2 * index)), next = bigEndianBytes(UInt32(2 * index + 1))
            let place = bigEndianBytes(1) + bigEndianBytes(1) + bigEndianBytes(0) + bigEndianBytes(0)
            return chunk("fcTL", content: number + place + [0, 1, 0, 10, 0, 0])
                + chunk("fdAT", content: next + greyPixel(value))
        }
        let control = chunk("acTL", content: bigEndianBytes(2) + bigEndianBytes(0))
        return png(width: 1, height: 1, colorType: 0, chunks: control + image + frames)
    }

    /// Returns a stream of zlib, not compressed, with one row of one pixel.
    private static func greyPixel(_ value: UInt8) -> [UInt8] {
        [0x78, 1, 1, 2, 0, 0xfd, 0xff, 0, value, 0, value + 2, 0, value + 1]
    }

    private static func png(width: UInt32, height: UInt32, colorType: UInt8, chunks: [UInt8]) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let header = bigEndianBytes(width) + bigEndianBytes(height) + [8, colorType, 0, 0, 0]
        return signature + chunk("IHDR", content: header) + chunks + chunk("IEND", content: [])
    }

    private static func chunk(_ name: String, content bytes: [UInt8]) -> [UInt8] {
        let content = Array(name.utf8) + bytes
        return bigEndianBytes(UInt32(bytes.count)) + content + bigEndianBytes(crc32(content))
    }

    private static func bigEndianBytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// Returns the CRC-32 of a PNG chunk.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
        }
    }
}
