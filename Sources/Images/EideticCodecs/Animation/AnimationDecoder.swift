package import EideticCore

/// Decodes the frames of a GIF, PNG, WebP, AVIF or JPEG XL, in this process.
///
/// The limits hold for each frame as for a still image: pixels, sides and encoded bytes, and the time of each call,
/// frames that have to be drawn before included. The number of frames is limited in total; the memory of all of them is
/// not needed, because only those that a caller keeps exist.
///
/// Unchecked, because its user makes one call at a time, as ``FrameSource`` demands.
package final class AnimationDecoder: FrameSource, @unchecked Sendable {
    private let format: ImageFormat
    private let options: DecodeOptions
    private let limits: DecodeLimits
    private let transform: (any ImageTransform)?
    private var waitsForMemory: Bool
    private let buffer: EncodedBuffer
    private let reader: any FrameReader
    private var header: ImageHeader?
    private var finisher: FrameFinisher?
    private var deliveredSize: PixelSize?
    package private(set) var info: AnimationInfo

    /// Creates a decoder from the first bytes of an animation, or from all of them.
    ///
    /// The result is `nil` if the format has no frames that can be decoded one by one, if the bytes are a still image,
    /// or if they do not yet contain the first frame.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isComplete: `true` if they are the whole file.
    ///   - options: The size and the conversions, for each frame alike; which frames are requested plays no part.
    ///   - transform: The change of each frame; `nil` for none.
    ///   - maximumCopyBytes: The memory for copies of the canvas, which spare drawing many frames again when an
    ///     animation is played backwards.
    ///   - limits: The limits.
    ///   - waitsForMemory: `false` if ``firstFrame(context:)`` must not wait until other decodes release memory.
    ///   - context: Cancels the call.
    /// - Throws: `notAnImage`, `corrupt`, `limitExceeded`, `outOfMemory` or `cancelled`.
    package convenience init?(
        _ bytes: [UInt8],
        isComplete: Bool,
        options: DecodeOptions,
        transform: (any ImageTransform)? = nil,
        maximumCopyBytes: Int = 0,
        limits: DecodeLimits,
        waitsForMemory: Bool = true,
        context: JobContext = JobContext()
    ) throws(EideticError) {
        guard case .format(let format) = ImageFormat.detect(in: bytes),
            let reader = Self.makeReader(for: format, limits: limits, maximumCopyBytes: maximumCopyBytes)
        else { return nil }
        if isComplete {
            let hasFrames = try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
                try Self.hasFrames(bytes, of: format)
            }
            guard hasFrames else { return nil }
        }
        self.init(
            buffer: try EncodedBuffer(capacity: bytes.count),
            reader: reader,
            format: format,
            options: options,
            limits: limits,
            transform: transform,
            waitsForMemory: waitsForMemory
        )
        _ = try append(bytes, isComplete: isComplete)
        guard hasStarted(isComplete: isComplete) else { return nil }
    }

    /// Creates a decoder of bytes that another process writes into shared memory.
    ///
    /// - Parameters:
    ///   - memory: The memory, which outlives the decoder.
    ///   - count: The number of bytes that have arrived.
    ///   - isComplete: `true` if they are the whole file.
    ///   - options: The size and the conversions, for each frame alike.
    ///   - maximumCopyBytes: The memory for copies of the canvas.
    ///   - limits: The limits.
    /// - Throws: `notAnImage`, `corrupt`, `limitExceeded` or `outOfMemory`.
    package convenience init?(
        sharing memory: UnsafeRawBufferPointer,
        count: Int,
        isComplete: Bool,
        options: DecodeOptions,
        maximumCopyBytes: Int,
        limits: DecodeLimits
    ) throws(EideticError) {
        let bytes = UnsafeRawBufferPointer(rebasing: memory.prefix(count))
        guard case .format(let format) = ImageFormat.detect(in: bytes),
            let reader = Self.makeReader(for: format, limits: limits, maximumCopyBytes: maximumCopyBytes)
        else { return nil }
        if isComplete { guard try Self.hasFrames(bytes, of: format) else { return nil } }
        self.init(
            buffer: EncodedBuffer(sharing: memory),
            reader: reader,
            format: format,
            options: options,
            limits: limits,
            transform: nil,
            waitsForMemory: false
        )
        _ = try extend(to: count, isComplete: isComplete)
        guard hasStarted(isComplete: isComplete) else { return nil }
    }

    private init(
        buffer: EncodedBuffer,
        reader: any FrameReader,
        format: ImageFormat,
        options: DecodeOptions,
        limits: DecodeLimits,
        transform: (any ImageTransform)?,
        waitsForMemory: Bool
    ) {
        self.buffer = buffer
        self.reader = reader
        self.format = format
        self.options = options.with { $0.frames = .first }
        self.limits = limits
        self.transform = transform
        self.waitsForMemory = waitsForMemory
        let none = PixelSize(width: 0, height: 0)
        info = AnimationInfo(
            format: format,
            size: none,
            sourceSize: none,
            durations: [],
            loopCount: 1,
            isComplete: false
        )
    }

    /// Returns `true` if the bytes are an animation whose first frame has arrived; otherwise, `false`.
    private func hasStarted(isComplete: Bool) -> Bool {
        reader.isAnimated && info.frameCount > 0 && !(isComplete && info.frameCount < 2)
    }

    /// Returns `false` if a whole file is a still image, before it is copied.
    private static func hasFrames(
        _ bytes: UnsafeRawBufferPointer,
        of format: ImageFormat
    ) throws(EideticError) -> Bool {
        switch format {
        case .gif, .webp, .png: return try (ImageDecoder.header(of: bytes, isComplete: true)?.frameCount ?? 1) > 1
        // The brand of sequences.
        case .avif: return String(decoding: bytes.prefix(64), as: UTF8.self).contains("avis")
        #if JPEGXL
        case .jpegxl: return JPEGXLCodec.isAnimation(bytes) ?? false
        #endif
        default: return false
        }
    }

    /// Returns `true` if the first bytes are those of a file that can have several frames; otherwise, `false`.
    ///
    /// No library reads them.
    package static func mayBeAnimated(_ bytes: [UInt8]) -> Bool {
        switch ImageFormat.detect(in: bytes) {
        case .format(.gif): return true
        case .format(.webp): return bytes.count > 20 && bytes[12..<16].elementsEqual("VP8X".utf8) && bytes[20] & 2 != 0
        case .format(.png): return bytes.span.withUnsafeBytes { PNGChunks.announceFrames($0) }
        #if AVIF
        case .format(.avif): return String(decoding: bytes.prefix(64), as: UTF8.self).contains("avis")
        #endif
        #if JPEGXL
        case .format(.jpegxl): return true
        #endif
        default: return false
        }
    }

    /// Returns whether the first bytes are those of an animation whose frames no ``FrameScanner`` finds; `nil` if more
    /// bytes are needed.
    package static func isAnimation(_ bytes: [UInt8]) -> Bool? {
        switch ImageFormat.detect(in: bytes) {
        case .needsMoreBytes: return nil
        #if JPEGXL
        case .format(.jpegxl): return bytes.withUnsafeBytes { JPEGXLCodec.isAnimation($0) }
        #endif
        default: return false
        }
    }

    private static func makeReader(
        for format: ImageFormat,
        limits: DecodeLimits,
        maximumCopyBytes: Int
    ) -> (any FrameReader)? {
        switch format {
        case .gif: return ComposedFrameReader<GIFStructure>(maximumCopyBytes: maximumCopyBytes)
        case .webp: return ComposedFrameReader<WebPStructure>(maximumCopyBytes: maximumCopyBytes)
        case .png: return ComposedFrameReader<PNGStructure>(maximumCopyBytes: maximumCopyBytes)
        #if AVIF
        case .avif: return AVIFFrameReader(limits: limits)
        #endif
        #if JPEGXL
        case .jpegxl: return JPEGXLFrameReader()
        #endif
        default: return nil
        }
    }

    package var retainedByteCount: Int { buffer.capacity + reader.retainedByteCount }

    package var retainedByteLimit: Int { buffer.capacity + reader.retainedByteLimit }

    package func firstFrameDrawn(for index: Int) -> Int { reader.firstFrameDrawn(for: index) }
}

// MARK: Bytes
extension AnimationDecoder {
    package func append(_ bytes: [UInt8], isComplete: Bool) throws(EideticError) -> AnimationInfo {
        let count = buffer.count + bytes.count
        guard count <= limits.encodedBytes.bytes else { throw DecodePlan.sizeError(count, limits: limits) }
        try buffer.append(bytes, isLast: isComplete)
        return try parse(isComplete: isComplete)
    }

    /// Counts the bytes up to `count` as arrived, which lie in the shared memory.
    ///
    /// - Throws: The errors of ``append(_:isComplete:)``.
    package func extend(to count: Int, isComplete: Bool) throws(EideticError) -> AnimationInfo {
        guard count <= limits.encodedBytes.bytes else { throw DecodePlan.sizeError(count, limits: limits) }
        try buffer.extend(to: count)
        return try parse(isComplete: isComplete)
    }

    private func parse(isComplete: Bool) throws(EideticError) -> AnimationInfo {
        do throws(EideticError) {
            try reader.update(buffer.bytes, isFileComplete: isComplete)
            if let header = reader.header {
                try DecodePlan.check(header, drawnSize: header.size, limits: limits)
                try DecodePlan.checkFrameCount(of: header, limits: limits)
                self.header = header
            }
        } catch {
            // Frames before the error have arrived.
            refreshInfo()
            info.durations = Array(info.durations.prefix(limits.frames))
            throw error
        }
        buffer.releaseReplaced()
        refreshInfo()
        return info
    }

    private func refreshInfo() {
        guard let header else { return }
        let targetSize = DecodePlan.targetSize(for: header, options: options)
        let isTransposed = options.appliesOrientation && header.orientation.swapsDimensions
        let upright = (isTransposed ? targetSize.transposed : targetSize).cropped(for: options)
        info.size = deliveredSize ?? upright
        info.sourceSize = options.appliesOrientation ? header.uprightSize : header.size
        let durations = reader.durations
        if durations.count < info.frameCount { info.durations.removeLast(info.frameCount - durations.count) }
        info.durations += durations.dropFirst(info.frameCount).map(\.clampedForPlayback)
        info.loopCount = reader.loopCount
        info.isComplete = reader.isComplete
        if finisher?.targetSize != targetSize || finisher?.orientation != header.orientation {
            finisher = FrameFinisher(
                targetSize: targetSize,
                orientation: header.orientation,
                options: options,
                colourSpace: reader.colourSpace
            )
        }
    }
}

// MARK: Frames
extension AnimationDecoder {
    /// Decodes the first frame, by the rule of `waitsForMemory`; later frames always wait.
    package func firstFrame(context: JobContext) throws(EideticError) -> PixelBuffer {
        defer { waitsForMemory = true }
        return try frame(at: 0, context: context)
    }

    package func frame(at index: Int, context: JobContext) throws(EideticError) -> PixelBuffer {
        guard let header, var finisher, (0..<info.frameCount).contains(index) else {
            throw EideticError(.invalidArgument, message: "\(format): there is no frame \(index)")
        }
        let deadline = ContinuousClock.now + limits.duration
        let memory = workingMemory
        let pixels = try reserving(memory, context: context) { () throws(EideticError) in
            let task = DecodeTask(
                header: header,
                targetSize: finisher.targetSize,
                decodesAllFrames: true,
                acceptsPartial: false,
                mayPremultiply: finisher.acceptsPremultiplied,
                limits: limits,
                context: context,
                deadline: deadline
            )
            let stored = try reader.frame(at: index, for: task)
            // A library that cannot be interrupted may have exceeded the time limit.
            try task.checkpoint()
            let finished = try finisher.finish(stored, for: task)
            return try transform?.apply(to: finished) ?? finished
        }
        self.finisher = finisher
        if deliveredSize == nil { (deliveredSize, info.size) = (pixels.size, pixels.size) }
        return pixels
    }

    package var workingMemory: Int { reader.canvasCount * 4 * (header?.size.pixelCount ?? 0) }

    private func reserving<Value>(
        _ memory: Int,
        context: JobContext,
        body: () throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let budget = DecodeMemoryBudget.shared
        guard waitsForMemory else { return try budget.withImmediateReservation(of: memory, body: body) }
        return try budget.withReservation(of: memory, context: context, body: body)
    }
}
