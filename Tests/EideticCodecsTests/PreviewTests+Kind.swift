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
