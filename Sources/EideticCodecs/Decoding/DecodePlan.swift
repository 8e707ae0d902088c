import EideticCore

/// One decode from its header to the finished picture: what is to be done, within which limits, in which order.
struct DecodePlan {
    let bytes: UnsafeRawBufferPointer
    private let codec: any ImageCodec.Type
    let header: ImageHeader
    private let document: AnyObject?
    private let options: DecodeOptions
    let limits: DecodeLimits
    private let context: WorkContext
    private let wanted: PixelSize

    /// Reads the header and checks the limits; no pixel is allocated.
    init(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodeOptions,
        _ limits: DecodeLimits,
        _ context: WorkContext
    ) throws(EideticError) {
        guard bytes.count <= limits.encodedBytes.bytes else {
            throw EideticError(.limitExceeded, "\(bytes.count) bytes; the limit is \(limits.encodedBytes.bytes)")
        }
        guard let format = try ImageDecoder.format(of: bytes, isComplete: true) else { throw Self.tooFew(bytes) }
        codec = try CodecRegistry.codec(for: format)
        let opened = try codec.open(bytes, format: format)
        guard let header = opened.header else { throw Self.tooFew(bytes) }
        document = opened.document
        self.bytes = bytes
        self.header = header
        self.options = options
        self.limits = limits
        self.context = context
        wanted = Self.wantedSize(header, options)
        try Self.check(header, drawn: header.format == .svg ? wanted : header.size, limits)
        try checkAnimation()
    }

    /// The memory that decoding will take at the most at one time.
    var memory: Int { codec.workingMemory(bytes, task(until: .now)) }

    /// Decodes, shrinks, converts colours and turns, in this order: each works on as few pixels as it can.
    func run() throws(EideticError) -> Image {
        let task = task(until: .now + limits.duration)
        try task.checkpoint()
        return try finished(try codec.decode(bytes, task), task)
    }

    /// What `run` would give, of which `pixels` makes the pixels when they are used; the first frame of an animation.
    func deferred(_ pixels: @escaping DeferredPicture.Decode, _ share: @escaping DeferredPicture.Share) -> Image {
        let turns = options.appliesOrientation && header.orientation.swapsSides
        let size = turns ? wanted.transposed : wanted
        return Image(
            deferred: DeferredPicture(size: size, decode: pixels, share: share),
            loopCount: header.loopCount,
            format: header.format,
            sourceSize: options.appliesOrientation ? header.uprightSize : header.size,
            scale: options.scale
        )
    }

    /// Shrinks, converts colours and turns what a codec gave.
    func finished(_ picture: CodecPicture, _ task: DecodeTask) throws(EideticError) -> Image {
        let converter =
            options.convertsToSRGB
            ? picture.iccProfile.flatMap { ColourConverter(profile: $0, colorModel: picture.colorModel) } : nil
        var frames: [Image.Frame] = []
        for frame in picture.frames {
            try task.checkpoint()
            var pixels = try Resampler.resample(frame.pixels, to: wanted)
            if let converter {
                pixels = try converter.convert(try pixels.unpremultiplied(), task)
            } else if picture.colorModel == .cmyk {
                pixels = try pixels.convertedFromCMYK()
            }
            if options.appliesOrientation { pixels = try pixels.turned(header.orientation) }
            pixels = options.premultipliesAlpha ? try pixels.premultiplied() : try pixels.unpremultiplied()
            frames.append(Image.Frame(pixels: pixels, duration: frame.duration))
        }
        return Image(
            frames: frames,
            loopCount: picture.loopCount,
            format: header.format,
            sourceSize: options.appliesOrientation ? header.uprightSize : header.size,
            scale: options.scale,
            isPartial: picture.isPartial
        )
    }

    private static func tooFew(_ bytes: UnsafeRawBufferPointer) -> EideticError {
        EideticError(.truncated, "\(bytes.count) bytes are too few to be a picture")
    }

    func task(until deadline: ContinuousClock.Instant) -> DecodeTask {
        DecodeTask(
            header: header,
            document: document,
            wanted: wanted,
            allFrames: options.frames == .all,
            acceptsPartial: options.acceptsPartial,
            limits: limits,
            context: context,
            deadline: deadline
        )
    }

    /// `size` is what a decoder has to make before anything is shrunk.
    private static func check(
        _ header: ImageHeader,
        drawn size: PixelSize,
        _ limits: DecodeLimits
    ) throws(EideticError) {
        let pixels = size.pixelCount
        // Whatever the limit: no address has more bits.
        let mostPixels = min(limits.pixels, 1 << 44)
        guard pixels <= mostPixels else {
            let found = "\(size) = \(pixels) pixels"
            throw EideticError(.limitExceeded, "\(header.format.rawValue): \(found); the limit is \(mostPixels)")
        }
        guard header.frameCount <= limits.frames else {
            let found = "\(header.frameCount) frames"
            throw EideticError(.limitExceeded, "\(header.format.rawValue): \(found); the limit is \(limits.frames)")
        }
    }

    private func checkAnimation() throws(EideticError) {
        guard options.frames == .all, header.frameCount > 1 else { return }
        let (bytes, overflow) = (4 * wanted.pixelCount).multipliedReportingOverflow(by: header.frameCount)
        guard overflow || bytes > limits.animationBytes.bytes else { return }
        let found = "\(header.frameCount) frames of \(wanted) = \(overflow ? .max : bytes) bytes"
        let limit = limits.animationBytes.bytes
        throw EideticError(.limitExceeded, "\(header.format.rawValue): \(found); the limit is \(limit)")
    }

    /// The size to reach, in stored orientation.
    private static func wantedSize(_ header: ImageHeader, _ options: DecodeOptions) -> PixelSize {
        let turns = options.appliesOrientation && header.orientation.swapsSides
        var size = turns ? header.uprightSize : header.size
        if let wanted = options.size {
            // A drawing has no pixels to run out of.
            if header.format == .svg { size = PixelSize(width: size.width << 24, height: size.height << 24) }
            size = size.scaled(to: wanted, options.contentMode)
        }
        if let limit = options.byteLimit {
            let frames = options.frames == .all ? header.frameCount : 1
            size = size.reduced(toPixels: limit.bytes / (4 * frames))
        }
        return turns ? size.transposed : size
    }
}

extension PixelSize {
    /// The largest size of the same proportions with at most `limit` pixels, but never less than one.
    fileprivate func reduced(toPixels limit: Int) -> PixelSize {
        guard pixelCount > limit else { return self }
        let factor = (Double(max(1, limit)) / Double(pixelCount)).squareRoot()
        let narrow = max(1, Int(Double(width) * factor))
        let low = max(1, Int(Double(height) * factor))
        // A side that cannot be shorter than one pixel must be paid for by the other.
        return PixelSize(width: min(narrow, max(1, limit / low)), height: min(low, max(1, limit / narrow)))
    }
}
