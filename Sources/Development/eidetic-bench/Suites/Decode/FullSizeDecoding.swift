import CBareCodecs
import CBareJPEG
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc

/// A C function that decodes an image; the caller frees the result.
typealias BareDecoder = (UnsafePointer<UInt8>?, Int) -> UnsafeMutablePointer<UInt8>?

extension Bench {
    /// Measures decoding at full size, about four megapixels, in every format.
    func measureFullSizeFormats() async throws {
        let size = PixelSize(width: 2_464, height: 1_848)
        let photograph = try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))
        try await compareDecoding(
            "png rgb",
            of: try photograph.encoded(as: .png),
            goal: 0.75,
            with: "libpng",
            decoder: eidetic_bare_png_decode
        )
        let translucent = try photograph.fadedToTheRight()
        try await compareDecoding(
            "png rgba",
            of: try translucent.encoded(as: .png),
            goal: 0.75,
            with: "libpng",
            decoder: eidetic_bare_png_decode
        )
        try await compareDecoding(
            "webp",
            of: try photograph.encoded(as: .webp),
            goal: 1.05,
            with: "libwebp",
            decoder: eidetic_bare_webp_decode
        )
        try await compareDecoding(
            "webp lossless",
            of: try photograph.encoded(as: .webp, quality: 1),
            goal: 1.05,
            with: "libwebp",
            decoder: eidetic_bare_webp_decode
        )
        try await compareDecoding(
            "gif",
            of: try photograph.encoded(as: .gif),
            goal: 1.05,
            with: "giflib",
            decoder: eidetic_bare_gif_decode
        )
        let pixels = photograph.pixels
        try await compareDecoding(
            "tiff",
            of: pixels.encoded(by: eidetic_bare_tiff_encode),
            goal: 1.05,
            with: "libtiff",
            decoder: eidetic_bare_tiff_decode
        )
        try await compareDecoding(
            "avif",
            of: pixels.encoded(by: eidetic_bare_avif_encode),
            goal: 1.05,
            with: "libavif",
            decoder: eidetic_bare_avif_decode
        )
        #if JPEGXL
        try await compareDecoding(
            "jpeg xl",
            of: pixels.encoded(by: eidetic_bare_jxl_encode),
            goal: 1.05,
            with: "libjxl",
            decoder: eidetic_bare_jxl_decode
        )
        #endif
        try await measureFullSizeHEIC(photograph)
        try await measureToolkitFormats(photograph)
    }

    /// Measures HEIC in standard range, if libheif has an encoder, and in a high one with an image of the corpus.
    ///
    /// libheif reads the 10 bits of the latter, and maps no tones.
    private func measureFullSizeHEIC(_ photograph: Image) async throws {
        // Encoding takes seconds.
        if let only = arguments["only"], !"heic in pq".contains(only) { return }
        if let bytes = try? photograph.encoded(as: .heic) {
            try await compareDecoding("heic", of: bytes, goal: 1.05, with: "libheif", decoder: eidetic_bare_heif_decode)
        } else {
            printError("decode: heic: skipped: libheif has no encoder of HEVC")
        }
        let name = "sdwebimage/TestHDR.heic"
        guard Corpus.directory != nil, let bytes = try? Corpus.bytes(of: name) else {
            return printError("decode: heic in pq: skipped: EIDETIC_CORPUS does not name a directory with \(name)")
        }
        try await compareDecoding(
            "heic in pq",
            of: bytes,
            goal: 1.5,
            with: "libheif, which maps no tones",
            decoder: eidetic_bare_heif_decode_deep
        )
    }

    /// Measures decoding a JPEG at full size.
    func measureFullSizeJPEG(_ jpeg: [UInt8]) async throws {
        try await compareDecoding("jpeg", of: jpeg, goal: 1.05, with: "libjpeg-turbo") {
            eidetic_bare_jpeg_decode($0, $1, 1)
        }
    }

    /// Measures what memory's byte of each grey pixel costs, once after a decode and at each use of all four channels.
    func measureGreyPixels(_ jpeg: [UInt8]) async throws {
        if let only = arguments["only"], !"grey".contains(only) { return }
        let image = try ImageDecoder.decode(jpeg), grey = try TransformChain([.grayscale]).apply(to: image.pixels)
        let compact = grey.compacted()
        precondition(compact.isCompact && !image.pixels.compacted().isCompact)
        func copy() throws(EideticError) {
            blackHole(
                try PixelBuffer(size: grey.size, alpha: .opaque) { target, _ in
                    grey.withUnsafeBytes { target.copyMemory(from: $0) }
                }
            )
        }
        for (name, work) in [
            ("grey to a byte a pixel", { blackHole(grey.compacted()) }),
            ("grey to four bytes a pixel", { blackHole(try compact.expanded()) }),
            ("colours, left as they are", { blackHole(image.pixels.compacted()) }),
        ] {
            let benchmark = BenchmarkCase(name, unit: .milliseconds, goal: .ratio(1.05))
            try await compare(benchmark, with: "a copy of four bytes a pixel", ours: work, theirs: copy)
        }
    }

    /// Compares Eidetic with a bare decoder on one image at full size, both with straight alpha.
    func compareDecoding(
        _ name: String,
        of encoded: @autoclosure () throws -> [UInt8],
        goal: Double,
        with library: String,
        decoder: BareDecoder
    ) async throws {
        if let only = arguments["only"], !name.contains(only) { return }
        let bytes = try encoded()
        guard case .format(let format) = ImageFormat.detect(in: bytes), ImageDecoder.supportedFormats.contains(format)
        else {
            return printError("decode: \(name): skipped: the format is not built in")
        }
        var options = DecodeOptions()
        options.premultipliesAlpha = false
        try await compare(
            BenchmarkCase(name, unit: .milliseconds, goal: .ratio(goal)),
            with: library,
            ours: { blackHole(try ImageDecoder.decode(bytes, options: options)) },
            theirs: { bytes.withUnsafeBufferPointer { free(decoder($0.baseAddress, $0.count)) } }
        )
    }
}

extension PixelBuffer {
    /// Encodes the pixels with a C function.
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
    /// Encodes the image.
    func encoded(as format: ImageFormat, quality: Double = 0.85) throws -> [UInt8] {
        try ImageEncoder.encode(self, as: format, quality: quality)
    }

    /// Returns the image with an alpha channel that decreases to the right.
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
