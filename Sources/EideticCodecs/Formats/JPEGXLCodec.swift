#if JPEGXL
import CCodec
import CJXL
import EideticCore

/// JPEG XL pictures and animations, through libjxl.
///
/// The library applies the orientation, which belongs to the format.
enum JPEGXLCodec: ImageCodec {
    static var formats: [ImageFormat] { [.jpegxl] }

    static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let file = try JPEGXLFile(bytes, isComplete: isComplete, wantsPixels: false)
        return try file?.header()
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let file = try JPEGXLFile(bytes, isComplete: true, wantsPixels: true) else {
            throw EideticError(.truncated, message: "jpegxl: the file ends within its header")
        }
        return try file.decode(task)
    }

    /// The frames at the wanted size; one at full size, and the library's planes of floating-point numbers.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: 9)
    }
}

/// An open JPEG XL file in memory.
private struct JPEGXLFile: ~Copyable {
    private let handle: OpaquePointer
    private let info: eidetic_jxl_info
    private let isComplete: Bool

    /// Reads the size.
    ///
    /// - Returns: `nil` where more bytes are needed.
    init?(_ bytes: UnsafeRawBufferPointer, isComplete: Bool, wantsPixels: Bool) throws(EideticError) {
        var outcome = eidetic_codec_outcome()
        var info = eidetic_jxl_info()
        let base = bytes.baseAddress
        let handle = eidetic_jxl_open(base, bytes.count, isComplete, wantsPixels, &info, &outcome)
        if outcome.status == EIDETIC_CODEC_NEEDS_MORE, !isComplete { return nil }
        try outcome.check(format: .jpegxl)
        guard let handle else { return nil }
        self.handle = handle
        self.info = info
        self.isComplete = isComplete
    }

    deinit { eidetic_jxl_close(handle) }

    private var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }

    private var loopCount: Int? { info.plays == 0 ? nil : Int(info.plays) }

    private var alpha: PixelBuffer.Alpha {
        guard info.has_alpha else { return .opaque }
        return info.is_premultiplied ? .premultiplied : .straight
    }

    /// Counts the frames of an animation, as far as there are bytes.
    func header() throws(EideticError) -> ImageHeader {
        var durations: [Duration] = []
        if info.is_animated {
            var outcome = eidetic_codec_outcome()
            var seconds = 0.0
            while eidetic_jxl_next(handle, &seconds, &outcome) {
                durations.append(Self.duration(seconds))
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

    private static func duration(_ seconds: Double) -> Duration { .seconds(min(max(seconds, 0), 1e6)) }

    func decode(_ task: DecodeTask) throws(EideticError) -> DecodedPixels {
        var frames: [Image.Frame] = []
        var profile: [UInt8]?
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
            if frames.isEmpty { profile = iccProfile }
            let (pixels, isWhole) = try frame(acceptsPartial: task.acceptsPartial)
            // At once: the limit on animations is one on frames of the wanted size.
            let shrunk = try Resampler.resample(pixels, to: task.targetSize)
            frames.append(Image.Frame(pixels: shrunk, duration: Self.duration(seconds)))
            isPartial = !isWhole
        } while task.decodesAllFrames && !isPartial && frames.count < task.header.frameCount
        guard !frames.isEmpty else { throw EideticError(.corrupt, message: "jpegxl: there is no frame") }
        var picture = DecodedPixels(frames: frames, loopCount: frames.count > 1 ? loopCount : 1, iccProfile: profile)
        picture.isPartial = isPartial
        return picture
    }

    /// Decodes the frame that was found last, and tells whether it is whole.
    private func frame(acceptsPartial: Bool) throws(EideticError) -> (PixelBuffer, Bool) {
        var isWhole = true
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, _ throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            var isShown = false
            let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            isWhole = eidetic_jxl_read(handle, base, memory.count, &isShown, &outcome)
            if !isWhole, isShown, acceptsPartial { return }
            try outcome.check(format: .jpegxl)
        }
        return (pixels, isWhole)
    }

    /// The profile of the pixels; `nil` for sRGB.
    private var iccProfile: [UInt8]? {
        let count = eidetic_jxl_icc(handle, nil, 0)
        guard count > 0 else { return nil }
        var profile = [UInt8](repeating: 0, count: count)
        return eidetic_jxl_icc(handle, &profile, count) == count ? profile : nil
    }
}
#endif
