import EideticCore

/// One decode from its header to the finished picture: what is to be done, within which limits, in which order.
struct DecodePlan {
    let bytes: UnsafeRawBufferPointer
    private let codec: any ImageCodec.Type
    let header: ImageHeader
    private let document: AnyObject?
    private let options: DecodeOptions
    let limits: DecodeLimits
    private let context: JobContext
    private let targetSize: PixelSize

    /// Reads the header and checks the limits; no pixel is allocated.
    init(
        bytes: UnsafeRawBufferPointer,
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext
    ) throws(EideticError) {
        guard bytes.count <= limits.encodedBytes.bytes else {
            throw EideticError(
                .limitExceeded,
                message: "\(bytes.count) bytes; the limit is \(limits.encodedBytes.bytes)"
            )
        }
        guard let format = try ImageDecoder.format(of: bytes, isComplete: true) else {
            throw Self.truncationError(for: bytes)
        }
        codec = try CodecRegistry.codec(for: format)
        let opened = try codec.open(bytes, format: format)
        guard let header = opened.header else { throw Self.truncationError(for: bytes) }
        document = opened.document
        self.bytes = bytes
        self.header = header
        self.options = options
        self.limits = limits
        self.context = context
        targetSize = Self.targetSize(for: header, options: options)
        try Self.check(header, drawnSize: header.format == .svg ? targetSize : header.size, limits: limits)
        try checkAnimationLimit()
    }

    /// The memory that decoding will take at the most at one time.
    var workingMemory: Int { codec.workingMemory(decoding: bytes, for: makeTask(deadline: .now)) }

    /// Decodes, shrinks, converts colours and turns, in this order: each works on as few pixels as it can.
    func decode() throws(EideticError) -> Image {
        let task = makeTask(deadline: .now + limits.duration)
        try task.checkpoint()
        return try makeImage(from: try codec.decode(bytes, for: task), for: task)
    }

    /// What `run` would give, of which `pixels` makes the pixels when they are used; the first frame of an animation.
    func makeDeferredImage(
        decode pixels: @escaping DeferredImage.DecodeFunction,
        share: @escaping DeferredImage.SharedDecodeFunction
    ) -> Image {
        let turns = options.appliesOrientation && header.orientation.swapsDimensions
        let size = turns ? targetSize.transposed : targetSize
        return Image(
            deferred: DeferredImage(size: size, decode: pixels, decodeShared: share),
            loopCount: header.loopCount,
            format: header.format,
            sourceSize: options.appliesOrientation ? header.uprightSize : header.size,
            scale: options.scale
        )
    }

    /// Shrinks, converts colours and turns what a codec gave.
    func makeImage(from decoded: DecodedPixels, for task: DecodeTask) throws(EideticError) -> Image {
        let converter =
            options.convertsToSRGB
            ? decoded.iccProfile.flatMap { ColourConverter(profile: $0, colorModel: decoded.colorModel) } : nil
        var frames: [Image.Frame] = []
        for frame in decoded.frames {
            try task.checkpoint()
            var pixels = try Resampler.resample(frame.pixels, to: targetSize)
            if let converter {
                pixels = try converter.convert(try pixels.unpremultiplied(), for: task)
            } else if decoded.colorModel == .cmyk {
                pixels = try pixels.convertedFromCMYK()
            }
            if options.appliesOrientation { pixels = try pixels.oriented(header.orientation) }
            pixels = options.premultipliesAlpha ? try pixels.premultiplied() : try pixels.unpremultiplied()
            frames.append(Image.Frame(pixels: pixels, duration: frame.duration))
        }
        return Image(
            frames: frames,
            loopCount: decoded.loopCount,
            format: header.format,
            sourceSize: options.appliesOrientation ? header.uprightSize : header.size,
            scale: options.scale,
            isPartial: decoded.isPartial
        )
    }

    private static func truncationError(for bytes: UnsafeRawBufferPointer) -> EideticError {
        EideticError(.truncated, message: "\(bytes.count) bytes are too few to be a picture")
    }

    func makeTask(deadline: ContinuousClock.Instant) -> DecodeTask {
        DecodeTask(
            header: header,
            document: document,
            targetSize: targetSize,
            decodesAllFrames: options.frames == .all,
            acceptsPartial: options.acceptsPartial,
            limits: limits,
            context: context,
            deadline: deadline
        )
    }

    /// `size` is what a decoder has to make before anything is shrunk.
    private static func check(
        _ header: ImageHeader,
        drawnSize size: PixelSize,
        limits: DecodeLimits
    ) throws(EideticError) {
        let pixels = size.pixelCount
        // Whatever the limit: no address has more bits.
        let maximumPixels = min(limits.pixels, 1 << 44)
        guard pixels <= maximumPixels else {
            let found = "\(size) = \(pixels) pixels"
            throw EideticError(
                .limitExceeded,
                message: "\(header.format.rawValue): \(found); the limit is \(maximumPixels)"
            )
        }
        guard header.frameCount <= limits.frames else {
            let found = "\(header.frameCount) frames"
            throw EideticError(
                .limitExceeded,
                message: "\(header.format.rawValue): \(found); the limit is \(limits.frames)"
            )
        }
    }

    private func checkAnimationLimit() throws(EideticError) {
        guard options.frames == .all, header.frameCount > 1 else { return }
        let (bytes, overflow) = (4 * targetSize.pixelCount).multipliedReportingOverflow(by: header.frameCount)
        guard overflow || bytes > limits.animationBytes.bytes else { return }
        let found = "\(header.frameCount) frames of \(targetSize) = \(overflow ? .max : bytes) bytes"
        let limit = limits.animationBytes.bytes
        throw EideticError(.limitExceeded, message: "\(header.format.rawValue): \(found); the limit is \(limit)")
    }

    /// The size to reach, in stored orientation.
    private static func targetSize(for header: ImageHeader, options: DecodeOptions) -> PixelSize {
        let turns = options.appliesOrientation && header.orientation.swapsDimensions
        var size = turns ? header.uprightSize : header.size
        if let requestedSize = options.size {
            // A drawing has no pixels to run out of.
            if header.format == .svg { size = PixelSize(width: size.width << 24, height: size.height << 24) }
            size = size.scaled(to: requestedSize, mode: options.contentMode)
        }
        if let limit = options.byteLimit {
            let frames = options.frames == .all ? header.frameCount : 1
            size = size.reduced(toPixelCount: limit.bytes / (4 * frames))
        }
        return turns ? size.transposed : size
    }
}

extension PixelSize {
    /// The largest size of the same proportions with at most `limit` pixels, but never less than one.
    fileprivate func reduced(toPixelCount limit: Int) -> PixelSize {
        guard pixelCount > limit else { return self }
        let factor = (Double(max(1, limit)) / Double(pixelCount)).squareRoot()
        let scaledWidth = max(1, Int(Double(width) * factor))
        let scaledHeight = max(1, Int(Double(height) * factor))
        // A side that cannot be shorter than one pixel must be paid for by the other.
        return PixelSize(
            width: min(scaledWidth, max(1, limit / scaledHeight)),
            height: min(scaledHeight, max(1, limit / scaledWidth))
        )
    }
}
