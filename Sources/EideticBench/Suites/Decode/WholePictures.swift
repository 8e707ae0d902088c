import CBareCodecs
import CBareJPEG
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc

/// Decodes as a C program does; the result is to be freed.
private typealias BareDecoder = (UnsafePointer<UInt8>?, Int) -> UnsafeMutablePointer<UInt8>?

extension Bench {
    /// Whole pictures of about four megapixels, in every format.
    func wholePictures() async throws {
        let size = PixelSize(width: 2_464, height: 1_848)
        let photograph = try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size))
        let png = try ImageEncoder.encode(photograph, as: .png)
        try await whole("png rgb", png, 0.75, "libpng") { eidetic_bare_png_decode($0, $1) }
        let clear = try ImageEncoder.encode(try photograph.withHalfTransparentEdge(), as: .png)
        try await whole("png rgba", clear, 0.75, "libpng") { eidetic_bare_png_decode($0, $1) }
        let webp = try ImageEncoder.encode(photograph, as: .webp)
        try await whole("webp", webp, 1.05, "libwebp") { eidetic_bare_webp_decode($0, $1) }
        let lossless = try ImageEncoder.encode(photograph, as: .webp, quality: 1)
        try await whole("webp lossless", lossless, 1.05, "libwebp") { eidetic_bare_webp_decode($0, $1) }
        let gif = try ImageEncoder.encode(photograph, as: .gif)
        try await whole("gif", gif, 1.05, "giflib") { eidetic_bare_gif_decode($0, $1) }
        let tiff = photograph.pixels.encoded { eidetic_bare_tiff_encode($0, $1, $2, $3) }
        try await whole("tiff", tiff, 1.05, "libtiff") { eidetic_bare_tiff_decode($0, $1) }
        let avif = photograph.pixels.encoded { eidetic_bare_avif_encode($0, $1, $2, $3) }
        try await whole("avif", avif, 1.05, "libavif") { eidetic_bare_avif_decode($0, $1) }
        try await wholeHEIC()
    }

    /// No library of a plain installation writes HEIC, so this one is of the corpus.
    private func wholeHEIC() async throws {
        let name = "sdwebimage/TestHDR.heic"
        guard Corpus.directory != nil, let bytes = try? Corpus.bytes(name) else {
            return printError("decode: heic: skipped: EIDETIC_CORPUS does not name a directory with \(name)")
        }
        try await whole("heic", bytes, 1.05, "libheif") { eidetic_bare_heif_decode($0, $1) }
    }

    /// Twelve megapixels of JPEG.
    func wholeJPEG(_ jpeg: [UInt8]) async throws {
        try await whole("jpeg", jpeg, 1.05, "libjpeg-turbo") { eidetic_bare_jpeg_decode($0, $1, 1) }
    }

    /// One whole picture by Eidetic and by a library alone; colours multiplied by alpha in neither.
    private func whole(
        _ name: String,
        _ bytes: [UInt8],
        _ goal: Double,
        _ library: String,
        _ bare: BareDecoder
    ) async throws {
        let format = try ImageDecoder.header(of: bytes)?.format
        guard let format, ImageDecoder.supportedFormats.contains(format) else { return }
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

extension PixelBuffer {
    /// The bytes that a C function makes of the pixels.
    fileprivate func encoded(
        _ encode: (UnsafePointer<UInt8>?, UInt32, UInt32, UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt8>?
    ) -> [UInt8] {
        var count = 0
        let bytes = withUnsafeBytes { pixels in
            let base = pixels.assumingMemoryBound(to: UInt8.self).baseAddress
            return encode(base, UInt32(size.width), UInt32(size.height), &count)
        }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
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
