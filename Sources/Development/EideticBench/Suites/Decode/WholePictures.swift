import CBareCodecs
import CBareJPEG
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc

/// Decodes as a C program does; the result is to be freed.
typealias BareDecoder = (UnsafePointer<UInt8>?, Int) -> UnsafeMutablePointer<UInt8>?

extension Bench {
    /// Whole pictures of about four megapixels, in every format.
    func measureFullSizeFormats() async throws {
        let size = PixelSize(width: 2_464, height: 1_848)
        let photograph = try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))
        try await whole("png rgb", try photograph.encoded(.png), 0.75, "libpng", eidetic_bare_png_decode)
        let translucent = try photograph.withHalfTransparentEdge()
        try await whole("png rgba", try translucent.encoded(.png), 0.75, "libpng", eidetic_bare_png_decode)
        try await whole("webp", try photograph.encoded(.webp), 1.05, "libwebp", eidetic_bare_webp_decode)
        let lossless = 1.0
        try await whole(
            "webp lossless",
            try photograph.encoded(.webp, lossless),
            1.05,
            "libwebp",
            eidetic_bare_webp_decode
        )
        try await whole("gif", try photograph.encoded(.gif), 1.05, "giflib", eidetic_bare_gif_decode)
        let pixels = photograph.pixels
        try await whole("tiff", pixels.encoded(eidetic_bare_tiff_encode), 1.05, "libtiff", eidetic_bare_tiff_decode)
        try await whole("avif", pixels.encoded(eidetic_bare_avif_encode), 1.05, "libavif", eidetic_bare_avif_decode)
        #if JPEGXL
        try await whole("jpeg xl", pixels.encoded(eidetic_bare_jxl_encode), 1.05, "libjxl", eidetic_bare_jxl_decode)
        #endif
        try await measureFullSizeHEIC()
        try await measureToolkitFormats(photograph)
    }

    /// No library of a plain installation writes HEIC, so this one is of the corpus.
    private func measureFullSizeHEIC() async throws {
        let name = "sdwebimage/TestHDR.heic"
        guard Corpus.directory != nil, let bytes = try? Corpus.bytes(of: name) else {
            return printError("decode: heic: skipped: EIDETIC_CORPUS does not name a directory with \(name)")
        }
        try await compareDecoding("heic", of: bytes, goal: 1.05, with: "libheif") { eidetic_bare_heif_decode($0, $1) }
    }

    /// Twelve megapixels of JPEG.
    func measureFullSizeJPEG(_ jpeg: [UInt8]) async throws {
        try await compareDecoding("jpeg", of: jpeg, goal: 1.05, with: "libjpeg-turbo") {
            eidetic_bare_jpeg_decode($0, $1, 1)
        }
    }

    /// One whole picture by Eidetic and by a library alone; colours multiplied by alpha in neither.
    func compareDecoding(
        _ name: String,
        of encoded: @autoclosure () throws -> [UInt8],
        goal: Double,
        with library: String,
        decoder bare: BareDecoder
    ) async throws {
        if let only = arguments["only"], !name.contains(only) { return }
        let bytes = try encoded()
        let format = try ImageDecoder.header(of: bytes)?.format
        guard let format, ImageDecoder.supportedFormats.contains(format) else { return }
        var options = DecodeOptions()
        options.premultipliesAlpha = false
        try await compare(
            BenchmarkCase(name, unit: .milliseconds, goal: .ratio(goal)),
            with: library,
            ours: { blackHole(try ImageDecoder.decode(bytes, options: options)) },
            theirs: { bytes.withUnsafeBufferPointer { free(bare($0.baseAddress, $0.count)) } }
        )
    }
}

extension PixelBuffer {
    /// The bytes that a C function makes of the pixels.
    fileprivate func encoded(
        by encode: (UnsafePointer<UInt8>?, UInt32, UInt32, UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt8>?
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
    /// A file of the picture.
    func encoded(as format: ImageFormat, quality: Double = 0.85) throws -> [UInt8] {
        try ImageEncoder.encode(self, as: format, quality: quality)
    }

    /// The same picture, fading out to the right.
    fileprivate func fadedToTheRight() throws -> Image {
        let source = pixels
        let faded = try PixelBuffer(size: size, alpha: .straight) { target, stride in
            source.withUnsafeBytes { source in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let offset = y * stride + 4 * x
                        for channel in 0..<3 { target[offset + channel] = source[offset + channel] }
                        target[offset + 3] = UInt8(255 - 128 * x / size.width)
                    }
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: faded)], format: .png, sourceSize: size)
    }
}
