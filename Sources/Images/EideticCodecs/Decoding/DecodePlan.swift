import EideticCore

/// The steps of one decode from the parsed header to the finished image.
struct DecodePlan {
    let bytes: UnsafeRawBufferPointer
    private let codec: any ImageCodec.Type
    let header: ImageHeader
    private let document: AnyObject?
    let options: DecodeOptions
    let limits: DecodeLimits
    private let context: JobContext
    let targetSize: PixelSize

    /// Parses the header and checks the limits; allocates no pixels.
    init(
        bytes: UnsafeRawBufferPointer,
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext
    ) throws(EideticError) {
        guard bytes.count <= limits.encodedBytes.bytes else { throw Self.sizeError(bytes.count, limits: limits) }
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

    /// The peak memory of the decode, in bytes: that of the codec, and the intermediate rows of resampling.
    var workingMemory: Int {
        let task = makeTask(deadline: .now)
        let scratch = Resampler.scratchByteCount(from: codec.decodedSize(for: task), to: targetSize)
        let (sum, overflow) = codec.workingMemory(decoding: bytes, for: task).addingReportingOverflow(scratch)
        return overflow ? .max : sum
    }

    /// Decodes, scales down, converts colours and applies the orientation, in this order: each step works on as few
    /// pixels as possible.
    func decode() throws(EideticError) -> Image {
        let task = makeTask(deadline: .now + limits.duration)
        try task.checkpoint()
        let decoded = try codec.decode(bytes, for: task)
        // A library that cannot be interrupted may have exceeded the time limit.
        try task.checkpoint()
        return try makeImage(from: decoded, for: task)
    }

    /// Returns the image that `decode()` would return, with pixels that `decode` makes on first use; of an animation,
    /// the first frame.
    func makeDeferredImage(
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) -> Image {
        ImageDecoder.makeDeferredImage(
            size: resultSize,
            header: header,
            options: options,
            decode: decode,
            decodeShared: decodeShared
        )
    }

    /// The size of the image that ``decode()`` returns.
    var resultSize: PixelSize {
        let isTransposed = options.appliesOrientation && header.orientation.swapsDimensions
        return (isTransposed ? targetSize.transposed : targetSize).cropped(for: options)
    }

    /// Scales the codec's result down, converts its colours and applies the orientation.
    func makeImage(from decoded: DecodedPixels, for task: DecodeTask) throws(EideticError) -> Image {
        var finisher = FrameFinisher(
            targetSize: targetSize,
            orientation: header.orientation,
            options: options,
            colourSpace: decoded.colourSpace,
            colorModel: decoded.colorModel
        )
        var frames: [Image.Frame] = []
        for frame in decoded.frames {
            let pixels = try finisher.finish(frame.pixels, for: task)
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

    /// Returns the error of a file with too many bytes.
    static func sizeError(_ byteCount: Int, limits: DecodeLimits) -> EideticError {
        let limit = limits.encodedBytes.bytes
        return EideticError(.limitExceeded, message: "the file has \(byteCount) bytes; the limit is \(limit)")
    }

    private static func truncationError(for bytes: UnsafeRawBufferPointer) -> EideticError {
        EideticError(.truncated, message: "\(bytes.count) bytes are too few for an image")
    }

    func makeTask(deadline: ContinuousClock.Instant) -> DecodeTask {
        DecodeTask(
            header: header,
            document: document,
            targetSize: targetSize,
            decodesAllFrames: options.frames == .all,
            acceptsPartial: options.acceptsPartial,
            convertsColours: options.convertsToSRGB,
            limits: limits,
            context: context,
            deadline: deadline
        )
    }

    /// Checks the limits on sides and pixels.
    ///
    /// `size` is the size at which the codec decodes, before any scaling.
    static func check(
        _ header: ImageHeader,
        drawnSize size: PixelSize,
        limits: DecodeLimits
    ) throws(EideticError) {
        guard max(size.width, size.height) <= limits.sideLength else {
            throw EideticError(
                .limitExceeded,
                message: "\(header.format.rawValue): \(size) pixels; the limit is \(limits.sideLength) per side"
            )
        }
        let pixels = size.pixelCount
        // Independent of the limit: no address has more bits.
        let maximumPixels = min(limits.pixels, 1 << 44)
        guard pixels <= maximumPixels else {
            let actual = "\(size) = \(pixels) pixels"
            throw EideticError(
                .limitExceeded,
                message: "\(header.format.rawValue): \(actual); the limit is \(maximumPixels)"
            )
        }
    }

    /// Checks the limit on the frames of an animation that is to be played.
    static func checkFrameCount(of header: ImageHeader, limits: DecodeLimits) throws(EideticError) {
        guard header.frameCount > limits.frames else { return }
        let actual = "\(header.frameCount) frames"
        throw EideticError(
            .limitExceeded,
            message: "\(header.format.rawValue): \(actual); the limit is \(limits.frames)"
        )
    }

    /// Checks the limits on the frames of an animation, unless the first one is wanted alone.
    func checkAnimationLimit() throws(EideticError) {
        guard options.frames == .all, header.frameCount > 1 else { return }
        try Self.checkFrameCount(of: header, limits: limits)
        let (bytes, overflow) = (4 * targetSize.pixelCount).multipliedReportingOverflow(by: header.frameCount)
        guard overflow || bytes > limits.animationBytes.bytes else { return }
        let actual = "\(header.frameCount) frames of \(targetSize) = \(overflow ? .max : bytes) bytes"
        let limit = limits.animationBytes.bytes
        throw EideticError(.limitExceeded, message: "\(header.format.rawValue): \(actual); the limit is \(limit)")
    }
}
