import EideticCore

@testable import EideticCodecs

extension FuzzTarget {
    /// Each decoder with its shim: header, metadata, all frames, a small size, and previews of a growing file.
    static let images: [FuzzTarget] = ImageDecoder.supportedFormats.map { format in
        FuzzTarget(name: format.rawValue, formats: [format], maximumLength: 1 << 16) { bytes in
            // The bytes of another format belong to its own target.
            guard case .format(format) = ImageFormat.detect(in: bytes, isComplete: true) else { return }
            decode(bytes)
            preview(bytes)
            play(bytes)
        }
    }

    /// Limits that keep one input fast.
    private static let limits: DecodeLimits = {
        var limits = DecodeLimits()
        (limits.pixels, limits.sideLength, limits.frames) = (1 << 18, 1 << 14, 64)
        (limits.animationBytes, limits.duration) = (.mebibytes(16), .seconds(2))
        return limits
    }()

    /// Limits that an image of this size exceeds; `nil` for one pixel.
    private static func limits(below size: PixelSize) -> DecodeLimits? {
        guard size.pixelCount > 1 else { return nil }
        var limits = limits
        limits.pixels = size.pixelCount - 1
        return limits
    }

    private static func decode(_ bytes: [UInt8]) {
        let header = try? ImageDecoder.header(of: bytes)
        let metadata = try? ImageMetadata(withPartsOf: bytes)
        if let metadata, case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true),
            [.jpeg, .png].contains(format)
        {
            encode(metadata, as: format)
        }
        var options = DecodeOptions()
        (options.frames, options.acceptsPartial) = (.all, true)
        if let image = try? ImageDecoder.decode(bytes, options: options, limits: limits) {
            require(header != nil, "an image without a header")
            require(image.frames.count <= limits.frames, "\(image.frames.count) frames")
            require(image.frames.allSatisfy { $0.pixels.size == image.size }, "frames of different sizes")
            checkAlpha(of: image)
            if image.format == .avif { encode(image) }
        }
        if let size = header?.size, let tight = Self.limits(below: size) {
            let image = try? ImageDecoder.decode(bytes, options: options, limits: tight)
            require(image == nil, "\(size) pixels are decoded beyond the limit")
        }
        (options.frames, options.size) = (.first, PixelSize(width: 24, height: 24))
        if let image = try? ImageDecoder.decode(bytes, options: options, limits: limits) {
            require(image.size.width <= 24 && image.size.height <= 24, "\(image.size) pixels instead of 24")
        }
    }

    /// Writes the metadata into another file, from which they are read as they are.
    private static func encode(_ metadata: ImageMetadata, as format: ImageFormat) {
        guard let pixels = try? PixelBuffer(size: PixelSize(width: 1, height: 1), alpha: .opaque, fill: { _, _ in })
        else { return }
        var options = EncodeOptions()
        options.metadata = metadata
        options.metadata?.iccProfile = nil
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: format, sourceSize: pixels.size)
        guard let bytes = try? ImageEncoder.encode(image, as: format, options: options) else { return }
        let names = (try? ImageMetadata(withPartsOf: bytes))?.parts?.names ?? []
        require(names.isSubset(of: metadata.parts?.names ?? []), "\(names) were not there")
    }

    /// Writes a small animation, whose boxes are changed before it is read with the same frames and repetitions.
    private static func encode(_ image: Image) {
        var options = DecodeOptions()
        options.frames = .all
        guard (2...4).contains(image.frames.count), image.size.pixelCount <= 64 * 64, image.loopCount ?? 1 < 1_000,
            let bytes = try? ImageEncoder.encode(image, as: .avif, options: EncodeOptions()),
            let again = try? ImageDecoder.decode(bytes, options: options, limits: limits)
        else { return }
        require(again.frames.count == image.frames.count, "\(again.frames.count) of \(image.frames.count) frames")
        let counts = "\(String(describing: image.loopCount)) and \(String(describing: again.loopCount))"
        require(again.loopCount == image.loopCount, "other repetitions: \(counts)")
    }

    /// Colours of premultiplied pixels are at most alpha, and opaque pixels are opaque.
    private static func checkAlpha(of image: Image) {
        let pixels = image.pixels
        for y in 0..<min(64, pixels.size.height) {
            for x in 0..<min(64, pixels.size.width) {
                let pixel = pixels[x, y]
                switch pixels.alpha {
                case .opaque: require(pixel.w == 255, "alpha \(pixel.w) of an opaque image")
                case .premultiplied: require(max(pixel.x, pixel.y, pixel.z) <= pixel.w, "\(pixel) is not premultiplied")
                case .straight: break
                }
            }
        }
    }

    private static func preview(_ bytes: [UInt8]) {
        let decoder = PreviewDecoder(options: DecodeOptions(), limits: limits, context: JobContext())
        for part in [3, 2, 1] {
            let prefix = Array(bytes.prefix(bytes.count / part))
            _ = try? ImageDecoder.header(of: prefix, isComplete: false)
            guard part < 3 || !prefix.isEmpty, let image = try? decoder.preview(of: prefix) else { continue }
            checkAlpha(of: image)
        }
    }

    /// Finds the frames of a file that arrives in parts, and decodes them one by one, backwards too.
    private static func play(_ bytes: [UInt8]) {
        let scanner = ImageFormat.detect(in: bytes).format.flatMap { FrameScanner($0) }
        for part in [8, 4, 2, 1] {
            Array(bytes.prefix(bytes.count / part)).withUnsafeBytes { scanner?.update($0) }
            _ = (scanner?.hasFrame, scanner?.isStill, scanner?.findsImage())
        }
        _ = (AnimationDecoder.mayBeAnimated(bytes), AnimationDecoder.isAnimation(bytes))
        let half = bytes.count / 2
        if let decoder = player(of: Array(bytes[..<half]), isComplete: false) {
            _ = try? decoder.firstFrame(context: JobContext())
            _ = try? decoder.append(Array(bytes[half...]), isComplete: true)
            showFrames(of: decoder)
        }
        if let decoder = player(of: bytes, isComplete: true) { showFrames(of: decoder) }
    }

    private static func player(of bytes: [UInt8], isComplete: Bool) -> AnimationDecoder? {
        try? AnimationDecoder(
            bytes,
            isComplete: isComplete,
            options: DecodeOptions(),
            maximumCopyBytes: 1 << 20,
            limits: limits
        )
    }

    private static func showFrames(of decoder: AnimationDecoder) {
        require(decoder.info.frameCount <= limits.frames, "\(decoder.info.frameCount) frames")
        let last = min(decoder.info.frameCount, 12)
        for index in Array(0..<last) + (0..<last).reversed() {
            guard let pixels = try? decoder.frame(at: index, context: JobContext()) else { continue }
            require(pixels.size == decoder.info.size, "a frame of \(pixels.size) in \(decoder.info.size)")
            require(decoder.firstFrameDrawn(for: index) <= index, "a later frame is drawn first")
        }
        require(decoder.retainedByteCount <= decoder.retainedByteLimit, "\(decoder.retainedByteCount) bytes are kept")
    }
}

extension ImageFormat.Detection {
    fileprivate var format: ImageFormat? {
        if case .format(let format) = self { format } else { nil }
    }
}
