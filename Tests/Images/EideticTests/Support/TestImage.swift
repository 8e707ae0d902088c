import CDeflate
import Eidetic

/// Images for tests, made without the encoders, which have tests of their own.
enum TestImage {
    /// Pixels whose colour is their position: (x, y, 7) modulo 256.
    static func pixels(width: Int, height: Int) throws -> PixelBuffer {
        try PixelBuffer(size: PixelSize(width: width, height: height), alpha: .opaque) { pixels, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = y * bytesPerRow + 4 * x
                    pixels[pixel] = UInt8(truncatingIfNeeded: x)
                    pixels[pixel + 1] = UInt8(truncatingIfNeeded: y)
                    pixels[pixel + 2] = 7
                    pixels[pixel + 3] = 255
                }
            }
        }
    }

    /// The same pixels as a PNG whose data is stored, not compressed.
    static func png(width: Int, height: Int) throws -> [UInt8] {
        let row = 1 + 4 * width
        let raw = [UInt8](unsafeUninitializedCapacity: row * height) { bytes, count in
            for y in 0..<height {
                bytes[y * row] = 0
                for x in 0..<width {
                    let pixel = y * row + 1 + 4 * x
                    bytes[pixel] = UInt8(truncatingIfNeeded: x)
                    bytes[pixel + 1] = UInt8(truncatingIfNeeded: y)
                    bytes[pixel + 2] = 7
                    bytes[pixel + 3] = 255
                }
            }
            count = row * height
        }
        let header = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 6, 0, 0, 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + chunk(named: "IHDR", data: header) + chunk(named: "IDAT", data: zlibStored(raw))
            + chunk(named: "IEND", data: [])
    }

    /// A lossless WebP of one colour, of 28 bytes whatever its size.
    ///
    /// - SeeAlso: RFC 9649, section 3.
    static func webp(width: Int, height: Int) -> [UInt8] {
        let size = littleEndian(UInt32(width - 1 | (height - 1) << 14))
        // No transform, no colour cache, no groups, and five codes of one symbol.
        let data = [0x2f] + size + [0x88, 0x88, 0x08]
        let chunk = Array("WEBPVP8L".utf8) + littleEndian(UInt32(data.count)) + data
        return Array("RIFF".utf8) + littleEndian(UInt32(chunk.count)) + chunk
    }

    /// A grey image as an uncompressed TIFF with one strip.
    static func tiff(width: Int, height: Int) -> [UInt8] {
        let fields = [
            (256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, height),
            (279, width * height),
        ]
        var file: [UInt8] = Array("II*\0".utf8) + littleEndian(UInt32(8 + width * height))
        file += (0..<width * height).map { UInt8(truncatingIfNeeded: $0 / width + $0 % width) }
        file += littleEndian(UInt16(fields.count))
        for (tag, value) in fields {
            file += littleEndian(UInt16(tag)) + littleEndian(UInt16(4)) + littleEndian(UInt32(1))
            file += littleEndian(UInt32(value))
        }
        return file + littleEndian(UInt32(0))
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func zlibStored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var remaining = bytes[...]
        repeat {
            let block = remaining.prefix(65_535)
            remaining = remaining.dropFirst(block.count)
            let length = UInt16(block.count)
            stream.append(remaining.isEmpty ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 255), UInt8(number >> 8)] }
            stream += block
        } while !remaining.isEmpty
        return stream + bigEndian(bytes.withUnsafeBytes { libdeflate_adler32(1, $0.baseAddress, $0.count) })
    }

    static func chunk(named name: String, data: [UInt8]) -> [UInt8] {
        let content = Array(name.utf8) + data
        return bigEndian(UInt32(data.count)) + content + bigEndian(checksum(content[...]))
    }

    /// The checksum of a chunk's name and data.
    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
