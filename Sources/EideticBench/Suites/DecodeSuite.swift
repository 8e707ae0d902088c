import CBareCodecs
import EideticCodecs
import EideticCore
import Glibc

extension Suite {
    /// Decoding whole pictures of four megapixels.
    static let decode = Suite(
        "decode",
        "decoding 4 megapixels of PNG, WebP and GIF, against the bare libraries called from C"
    ) { bench in
        let photograph = try ImageDecoder.decode(
            try SyntheticPhotograph.jpeg(),
            options: .full(PixelSize(width: 2_464, height: 1_848))
        )
        let clear = try photograph.withHalfTransparentEdge()
        try await bench.full("png rgb", try ImageEncoder.encode(photograph, as: .png), 0.75, "libpng") {
            eidetic_bare_png_decode($0, $1)
        }
        try await bench.full("png rgba", try ImageEncoder.encode(clear, as: .png), 0.75, "libpng") {
            eidetic_bare_png_decode($0, $1)
        }
        try await bench.full("webp", try ImageEncoder.encode(photograph, as: .webp), 1.05, "libwebp") {
            eidetic_bare_webp_decode($0, $1)
        }
        let lossless = try ImageEncoder.encode(photograph, as: .webp, quality: 1)
        try await bench.full("webp lossless", lossless, 1.05, "libwebp") { eidetic_bare_webp_decode($0, $1) }
        try await bench.full("gif", try ImageEncoder.encode(photograph, as: .gif), 1.05, "giflib") {
            eidetic_bare_gif_decode($0, $1)
        }
    }
}

extension Bench {
    /// One whole picture by Eidetic and by a library alone; colours multiplied by alpha in neither.
    fileprivate func full(
        _ name: String,
        _ bytes: [UInt8],
        _ goal: Double,
        _ library: String,
        _ bare: (UnsafePointer<UInt8>?, Int) -> UnsafeMutablePointer<UInt8>?
    ) async throws {
        var options = DecodeOptions()
        options.premultipliesAlpha = false
        try await compare(
            Case(name, .milliseconds, goal: .ratio(goal)),
            with: library,
            ours: { use(try ImageDecoder.decode(bytes, options: options)) },
            theirs: { bytes.withUnsafeBufferPointer { free(bare($0.baseAddress, $0.count)) } }
        )
    }
}

extension DecodeOptions {
    fileprivate static func full(_ size: PixelSize) -> DecodeOptions {
        var options = DecodeOptions()
        options.size = size
        return options
    }
}

extension Image {
    /// The same picture, fading out to the right.
    fileprivate func withHalfTransparentEdge() throws -> Image {
        let source = pixels
        let faded = try PixelBuffer(size: size, alpha: .straight) { target, stride in
            source.withUnsafeBytes { source in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let at = y * stride + 4 * x
                        for channel in 0..<3 { target[at + channel] = source[at + channel] }
                        target[at + 3] = UInt8(255 - 128 * x / size.width)
                    }
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: faded)], format: .png, sourceSize: size)
    }
}
