#if JPEGXL
import CCodec
import CJXL
import EideticCore

/// JPEG XL images and animations, by libjxl.
///
/// The orientation belongs to the format, and the library applies it.
enum JPEGXLCodec: ImageCodec {
    static var formats: [ImageFormat] { [.jpegxl] }
    static let detachedCalls: DetachedCalls? = .forFormat(.jpegxl)

    static func prepare() { eidetic_jxl_prepare() }

    static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let file = try JPEGXLFile(bytes, isComplete: isComplete, decodesPixels: false)
        return try file?.header()
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let file = try JPEGXLFile(bytes, isComplete: true, decodesPixels: true) else {
            throw EideticError(.truncated, message: "jpegxl: the file ends within its header")
        }
        return try file.decode(for: task)
    }

    /// The frames at the target size, one frame at full size, and the library's floating-point planes.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: 9)
    }
}

/// An open JPEG XL file in memory.
private struct JPEGXLFile: ~Copyable {
    private let handle: OpaquePointer
    private let info: eidetic_jxl_info
    private let isComplete: Bool

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
        self.isComplete = isComplete
    }

    deinit { eidetic_jxl_close(handle) }

    private var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }

    private var loopCount: Int? { info.loop_count == 0 ? nil : Int(info.loop_count) }

    private var alpha: PixelBuffer.Alpha {
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
            let (pixels, isFrameComplete) = try decodeFrame(acceptsPartial: task.acceptsPartial)
            // Scaled down immediately, because the limit on animations counts frames of the target size.
            let resized = try Resampler.resample(pixels, to: task.targetSize, for: task)
            frames.append(Image.Frame(pixels: resized, duration: Self.duration(seconds: seconds)))
            isPartial = !isFrameComplete
        } while task.decodesAllFrames && !isPartial && frames.count < task.header.frameCount
        guard !frames.isEmpty else { throw EideticError(.corrupt, message: "jpegxl: the file has no frame") }
        var decoded = DecodedPixels(frames: frames, loopCount: frames.count > 1 ? loopCount : 1, iccProfile: profile)
        decoded.isPartial = isPartial
        return decoded
    }

    /// Decodes the current frame; the Boolean value indicates whether it is complete.
    private func decodeFrame(acceptsPartial: Bool) throws(EideticError) -> (PixelBuffer, Bool) {
        var isFrameComplete = true
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, _ throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            var isVisible = false
            let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            isFrameComplete = eidetic_jxl_read(handle, base, memory.count, &isVisible, &outcome)
            if !isFrameComplete, isVisible, acceptsPartial { return }
            try outcome.check(format: .jpegxl)
        }
        return (pixels, isFrameComplete)
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
