#if JPEGXL
import CCodec
import CJXL
import EideticCore

/// An open JPEG XL file in memory.
final class JPEGXLFile {
    private let handle: OpaquePointer
    private let info: eidetic_jxl_info

    /// Opens the file and parses its size.
    ///
    /// - Returns: `nil` if more bytes are needed.
    init?(_ bytes: UnsafeRawBufferPointer, isComplete: Bool, decodesPixels: Bool) throws(EideticError) {
        var outcome = eidetic_codec_outcome()
        var info = eidetic_jxl_info()
        let base = bytes.baseAddress
        let handle = eidetic_jxl_open(base, bytes.count, isComplete, decodesPixels, &info, &outcome)
        if outcome.status == EIDETIC_CODEC_NEEDS_MORE, !isComplete { return nil }
        try outcome.check(format: .jpegxl)
        guard let handle else { return nil }
        self.handle = handle
        self.info = info
    }

    deinit { eidetic_jxl_close(handle) }

    var isAnimated: Bool { info.is_animated }

    var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }

    var loopCount: Int? { info.loop_count == 0 ? nil : Int(info.loop_count) }

    var alpha: PixelBuffer.Alpha {
        guard info.has_alpha else { return .opaque }
        return info.is_premultiplied ? .premultiplied : .straight
    }

    /// Returns the header; the frames of an animation are counted as far as the bytes reach.
    func header() throws(EideticError) -> ImageHeader {
        var durations: [Duration] = []
        if info.is_animated {
            var outcome = eidetic_codec_outcome()
            var seconds = 0.0
            while eidetic_jxl_next(handle, &seconds, &outcome) {
                durations.append(Self.duration(seconds: seconds))
                try FrameCountLimit.check(durations.count, format: .jpegxl)
            }
        }
        return ImageHeader(
            format: .jpegxl,
            size: size,
            hasAlpha: info.has_alpha,
            frameCount: max(1, durations.count),
            loopCount: durations.count > 1 ? loopCount : 1,
            durations: durations.count > 1 ? durations : []
        )
    }

    private static func duration(seconds: Double) -> Duration { .seconds(min(max(seconds, 0), 1e6)) }

    func decode(for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        var frames: [Image.Frame] = []
        var colourSpace: ColourSpace?
        var converter: ColourConverter?
        var isPartial = false
        repeat {
            try task.checkpoint()
            var outcome = eidetic_codec_outcome()
            var seconds = 0.0
            guard eidetic_jxl_next(handle, &seconds, &outcome) else {
                if outcome.status == EIDETIC_CODEC_TRUNCATED, task.acceptsPartial, !frames.isEmpty {
                    isPartial = true; break
                }
                try outcome.check(format: .jpegxl)
                break
            }
            if frames.isEmpty {
                colourSpace = self.colourSpace
                converter = deepConverter(from: colourSpace, for: task)
                if converter != nil { colourSpace = nil }
            }
            let (pixels, isFrameComplete) = try decodeFrame(converter: converter, for: task)
            // Scaled down immediately, because the limit on animations counts frames of the target size.
            let resized = try Resampler.resample(pixels, to: task.targetSize, for: task)
            frames.append(Image.Frame(pixels: resized, duration: Self.duration(seconds: seconds)))
            isPartial = !isFrameComplete
        } while task.decodesAllFrames && !isPartial && frames.count < task.header.frameCount
        guard !frames.isEmpty else { throw EideticError(.corrupt, message: "jpegxl: the file has no frame") }
        var decoded = DecodedPixels(
            frames: frames,
            loopCount: frames.count > 1 ? loopCount : 1,
            colourSpace: colourSpace
        )
        decoded.isPartial = isPartial
        return decoded
    }

    /// Replaces the bytes by those that have arrived, which begin with the same ones.
    func extend(_ bytes: UnsafeRawBufferPointer, isComplete: Bool) {
        eidetic_jxl_extend(handle, bytes.baseAddress, bytes.count, isComplete)
    }

    /// Lets the library forget the address of the bytes; returns the number of those that it has read.
    func pause() -> Int { eidetic_jxl_pause(handle) }

    /// Leaves out frames before the one to which ``nextDuration()`` advances.
    func skipFrames(_ count: Int) { eidetic_jxl_skip(handle, count) }

    /// Advances to the next frame, and returns its duration.
    ///
    /// - Returns: `nil` behind the last frame, or if bytes are missing.
    func nextDuration() throws(EideticError) -> Duration? {
        var outcome = eidetic_codec_outcome()
        var seconds = 0.0
        if eidetic_jxl_next(handle, &seconds, &outcome) { return Self.duration(seconds: seconds) }
        let isMissing = [EIDETIC_CODEC_NEEDS_MORE, EIDETIC_CODEC_TRUNCATED].contains(outcome.status)
        if !isMissing { try outcome.check(format: .jpegxl) }
        return nil
    }

    /// Decodes as much of the first frame as has arrived.
    ///
    /// - Parameter memory: The pixels, the same in each call.
    /// - Returns: Whether the pixels show something, and whether they are complete.
    /// - Throws: `corrupt` or `outOfMemory`.
    func continueFirstFrame(
        into memory: UnsafeMutableRawBufferPointer
    ) throws(EideticError) -> (isVisible: Bool, isComplete: Bool) {
        var outcome = eidetic_codec_outcome()
        var isVisible = false
        let isComplete = eidetic_jxl_continue(handle, memory.bytePointer, memory.count, &isVisible, &outcome)
        if !isComplete, outcome.status != EIDETIC_CODEC_NEEDS_MORE { try outcome.check(format: .jpegxl) }
        return (isVisible, isComplete)
    }

    /// Decodes the current frame; the Boolean value indicates whether it is complete.
    ///
    /// With a converter, the frame is read with 16 bits per channel, and is in sRGB.
    func decodeFrame(
        converter: ColourConverter? = nil,
        for task: DecodeTask
    ) throws(EideticError) -> (PixelBuffer, Bool) {
        var isFrameComplete = true
        func read(into memory: UnsafeMutableRawBufferPointer, stride: Int) throws(EideticError) {
            var outcome = eidetic_codec_outcome()
            var isVisible = false
            let isDeep = converter != nil
            isFrameComplete =
                eidetic_jxl_read(handle, isDeep, memory.bytePointer, memory.count, &isVisible, &outcome)
            if !isDeep { memory.clampColours(for: alpha) }
            if !isFrameComplete, isVisible, task.acceptsPartial { return }
            try outcome.check(format: .jpegxl)
        }
        if let converter {
            let deep = try DeepPixels(size: size, alpha: alpha, fill: read)
            return (try converter.convert(deep, for: task), isFrameComplete)
        }
        return (try PixelBuffer(size: size, alpha: alpha, fill: read), isFrameComplete)
    }

    /// Returns the converter of an image with more than 8 bits per channel.
    private func deepConverter(from colourSpace: ColourSpace?, for task: DecodeTask) -> ColourConverter? {
        guard info.depth > 8, alpha != .premultiplied, let converter = task.deepConverter(from: colourSpace),
            !converter.isGrey
        else { return nil }
        return converter
    }

    /// The meaning of the colours of the pixels; `nil` for sRGB.
    var colourSpace: ColourSpace? {
        var primaries: UInt32 = 0
        var transfer: UInt32 = 0
        if eidetic_jxl_high_dynamic_range(handle, &primaries, &transfer) {
            return ColourSpace(primaries: Int(primaries), transfer: Int(transfer))
        }
        return iccProfile.map(ColourSpace.profile)
    }

    /// The profile of the pixels; `nil` for sRGB.
    private var iccProfile: [UInt8]? {
        let count = eidetic_jxl_icc(handle, nil, 0)
        guard count > 0 else { return nil }
        var profile = [UInt8](repeating: 0, count: count)
        return eidetic_jxl_icc(handle, &profile, count) == count ? profile : nil
    }

    /// Reads the metadata in the boxes of a file, decompressed.
    ///
    /// - SeeAlso: ISO/IEC 18181-2, 9.3, 9.4 and 9.5.
    static func metadata(of file: UnsafeRawBufferPointer) -> ImageMetadata {
        ImageMetadata(exif: box("Exif", of: file).flatMap(ExifBlock.content), xmp: box("xml ", of: file))
    }

    /// Returns the content of the first box of a type; `nil` if it is missing, damaged or too large.
    private static func box(_ type: String, of file: UnsafeRawBufferPointer) -> [UInt8]? {
        let content = [UInt8](unsafeUninitializedCapacity: ICCProfile.maximumSize) { target, count in
            count = eidetic_jxl_box(file.baseAddress, file.count, type, target.baseAddress, target.count)
        }
        return content.isEmpty ? nil : Array(content[...])
    }
}
#endif
