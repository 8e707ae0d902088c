import CBareJPEG
import EideticCodecs
import EideticCore
import Glibc

extension PreviewTests {
    /// A kind of file with progressive previews.
    enum Kind: String, CaseIterable {
        case baseline, progressive, png, interlaced, gif, webp, lossless

        static let width = 203, height = 157

        func bytes() throws -> [UInt8] {
            let pixels = try TestImages.photo(width: Self.width, height: Self.height)
            let image = TestImages.makeImage(pixels)
            return switch self {
            case .baseline: encodeJPEG(pixels, isProgressive: 0)
            case .progressive: encodeJPEG(pixels, isProgressive: 1)
            case .png: try ImageEncoder.encode(image, as: .png)
            case .interlaced: encodeInterlacedPNG(pixels)
            case .gif: try ImageEncoder.encode(image, as: .gif)
            case .webp: try ImageEncoder.encode(image, as: .webp, quality: 0.8)
            case .lossless: try ImageEncoder.encode(image, as: .webp, quality: 1)
            }
        }

        var format: ImageFormat {
            switch self {
            case .baseline, .progressive: .jpeg
            case .png, .interlaced: .png
            case .gif: .gif
            case .webp, .lossless: .webp
            }
        }

        /// Returns the positions of compressed pixels, without what describes all that follows; `nil` for formats
        /// without frames.
        func frameIndices(of bytes: [UInt8]) -> [Int]? {
            switch self {
            case .gif: Self.frameIndices(ofGIF: bytes)
            case .webp: Self.tokenIndices(ofWebP: bytes)
            case .lossless: Array(bytes.count / 10..<bytes.count)
            default: nil
            }
        }

        /// The most bytes behind the position that a decoder reads again: none of a GIF, a block of 16 by 16 pixels of
        /// a lossy WebP, and ten rows of a lossless one.
        var byteCountInProgress: Int {
            switch self {
            case .webp: 512
            case .lossless: 10 * 4 * Self.width
            default: 0
            }
        }

        /// Returns the positions of the bytes of the only token partition of a lossy WebP, which follows the modes of
        /// all blocks.
        ///
        /// - SeeAlso: RFC 6386, sections 9.1 and 9.5
        private static func tokenIndices(ofWebP bytes: [UInt8]) -> [Int]? {
            let name = Array("VP8 ".utf8)
            guard let chunk = bytes.indices.first(where: { bytes[$0...].starts(with: name) }) else { return nil }
            let tag = Int(bytes[chunk + 8]) | Int(bytes[chunk + 9]) << 8 | Int(bytes[chunk + 10]) << 16
            return Array(chunk + 18 + tag >> 5..<bytes.count)
        }

        /// Returns the positions of the bytes of the first frame of a GIF, without the lengths of its blocks.
        private static func frameIndices(ofGIF bytes: [UInt8]) -> [Int] {
            func tableSize(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 6 << Int(flags & 7) }
            var position = 13 + tableSize(bytes[10]), indices: [Int] = []
            // Extensions come before the frame.
            while bytes[position] == 0x21 {
                position += 2
                while bytes[position] != 0 { position += Int(bytes[position]) + 1 }
                position += 1
            }
            position += 11 + tableSize(bytes[position + 9])
            while bytes[position] != 0 {
                indices += position + 1...position + Int(bytes[position])
                position += Int(bytes[position]) + 1
            }
            return indices
        }

        private func encodeJPEG(_ pixels: PixelBuffer, isProgressive: Int32) -> [UInt8] {
            var count = 0
            let (width, height) = (UInt32(Self.width), UInt32(Self.height))
            let encoded = pixels.withUnsafeBytes {
                eidetic_bare_jpeg_encode(
                    $0.bindMemory(to: UInt8.self).baseAddress,
                    width,
                    height,
                    85,
                    isProgressive,
                    &count
                )
            }
            defer { free(encoded) }
            return Array(UnsafeBufferPointer(start: encoded, count: count))
        }

        /// Stored in the seven passes of Adam7, without compression.
        private func encodeInterlacedPNG(_ pixels: PixelBuffer) -> [UInt8] {
            var png = PNGWriter(width: Self.width, height: Self.height, interlace: 1)
            var rows: [UInt8] = []
            for (x, y, across, down) in [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
            ] {
                for row in stride(from: y, to: Self.height, by: down) {
                    rows.append(0)
                    for column in stride(from: x, to: Self.width, by: across) {
                        let pixel = pixels[column, row]
                        rows += [pixel.x, pixel.y, pixel.z]
                    }
                }
            }
            png.addPixels(rows)
            return png.finished
        }
    }
}
