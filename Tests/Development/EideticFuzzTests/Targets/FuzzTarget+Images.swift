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
        }
    }

    /// Limits that keep one input fast.
    private static let limits: DecodeLimits = {
        var limits = DecodeLimits()
        (limits.pixels, limits.sideLength, limits.frames) = (1 << 18, 1 << 14, 64)
        (limits.animationBytes, limits.duration) = (.mebibytes(16), .seconds(2))
        return limits
    }()

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

    /// The parts of images that have parsers of their own: detection, EXIF, profiles, placeholders.
    static let imageParts = [
        FuzzTarget(name: "detection", formats: ImageDecoder.supportedFormats) { bytes in
            let whole = ImageFormat.detect(in: bytes, isComplete: true)
            require(whole != .needsMoreBytes, "a complete file needs more bytes")
            guard case .format(let format) = ImageFormat.detect(in: Array(bytes.prefix(bytes.count / 2))) else {
                return
            }
            require(whole == .format(format), "\(format) of the first half is \(whole) of the whole")
        },
        FuzzTarget(name: "exif", seeds: { [exifBlock] }) { bytes in
            let orientation = bytes.withUnsafeBytes { Exif.orientation(in: $0) }
            let upright = Exif.upright(bytes)
            require(upright.count == bytes.count, "an upright block has another length")
            require(upright.withUnsafeBytes { Exif.orientation(in: $0) } == .up, "\(orientation) is not upright")
        },
        FuzzTarget(name: "profile", maximumLength: 1 << 14) { bytes in
            guard let reduced = ICCProfile.reduced(bytes) else { return }
            require(reduced.count <= bytes.count + 4, "a reduced profile is longer")
        },
        FuzzTarget(name: "placeholder", seeds: { placeholderSeeds }) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try? BlurHash.decode(text, size: PixelSize(width: 9, height: 7))
            _ = try? ThumbHash.decode(bytes)
            _ = Image.thumbHash(text)
            _ = ImagePlaceholder(word: text)
            if let decoded = Base64.decode(text) {
                require(Base64.decode(Base64.encode(decoded)) == decoded, "base64 is read otherwise than written")
            }
        },
    ]

    /// A block of EXIF with the orientation 6.
    private static let exifBlock: [UInt8] =
        Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]

    private static let placeholderSeeds = [
        "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "1QcSHQRnh493V4dIh4eXh1h4kJUI", "AAECAwQFBgc=",
    ].map {
        Array($0.utf8)
    }
}
