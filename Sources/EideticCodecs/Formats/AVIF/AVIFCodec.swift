#if AVIF
import CAVIF
import CCodec
import CPixels
import EideticCore

/// AVIF images and sequences, by libavif.
///
/// Crop, rotation and mirroring belong to the format and are applied here; an EXIF orientation beside them repeats the
/// same rotation and is ignored.
enum AVIFCodec: ImageCodec {
    static var formats: [ImageFormat] { [.avif] }

    static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        do throws(EideticError) {
            return try AVIFFile(
                bytes,
                isComplete: isComplete,
                maximumPixels: .max,
                maximumFrames: FrameCountLimit.maximum
            )?.makeHeader(from: bytes)
        } catch {
            return try withHEIFFallback(after: error) { codec throws(EideticError) in
                try codec.header(of: bytes, isComplete: isComplete, format: .avif)
            }
        }
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let limits = task.limits
        do throws(EideticError) {
            let file = try AVIFFile(bytes, isComplete: true, maximumPixels: limits.pixels, maximumFrames: limits.frames)
            guard let decoded = try file?.decode(for: task) else {
                throw EideticError(.truncated, message: "avif: the file ends within its headers")
            }
            return decoded
        } catch {
            return try withHEIFFallback(after: error) { codec throws(EideticError) in try codec.decode(bytes, for: task)
            }
        }
    }

    /// Calls `body` with libheif, if it is part of the build, after libavif has failed: for example for grids that use
    /// a tile twice.
    ///
    /// libheif is not the first choice because it takes two to eight times as long (docs/decisions/0022).
    private static func withHEIFFallback<Result>(
        after error: EideticError,
        body: (any ImageCodec.Type) throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        #if HEIF
        guard error.code == .corrupt || error.code == .unsupportedFormat else { throw error }
        do throws(EideticError) {
            return try body(HEICCodec.self)
        } catch let second {
            throw second.code == .cancelled || second.code == .limitExceeded ? second : error
        }
        #else
        throw error
        #endif
    }

    /// The frames at the target size, one frame at full size, a copy to rotate, and planes of up to 16 bits.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: 4)
    }
}

/// An open AVIF file in memory.
private struct AVIFFile: ~Copyable {
    private let handle: OpaquePointer
    private let info: eidetic_avif_info
    private let alphaProperties: AVIFAlpha?

    /// Opens the file and parses its headers.
    ///
    /// - Returns: `nil` if more bytes are needed.
    init?(_ bytes: UnsafeRawBufferPointer, isComplete: Bool, maximumPixels: Int, maximumFrames: Int)
        throws(EideticError)
    {
        var outcome = eidetic_codec_outcome()
        var info = eidetic_avif_info()
        let handle = eidetic_avif_open(
            bytes.baseAddress,
            bytes.count,
            isComplete,
            UInt32(clamping: maximumPixels),
            UInt32(clamping: maximumFrames),
            &info,
            &outcome
        )
        if outcome.status == EIDETIC_CODEC_NEEDS_MORE, !isComplete { return nil }
        try outcome.check(format: .avif)
        guard let handle else { return nil }
        self.handle = handle
        self.info = info
        alphaProperties = info.has_alpha && info.frames == 1 ? AVIFAlpha(bytes) : nil
    }

    deinit { eidetic_avif_close(handle) }

    var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }

    var loopCount: Int? { info.frames == 1 ? 1 : info.loop_count == 0 ? nil : Int(info.loop_count) }

    func makeHeader(from bytes: UnsafeRawBufferPointer) -> ImageHeader {
        ImageHeader(
            format: .avif,
            size: size,
            hasAlpha: alpha != .opaque,
            frameCount: Int(info.frames),
            loopCount: loopCount,
            durations: info.frames == 1 ? [] : AVIFDurations.read(from: bytes, count: Int(info.frames))
        )
    }

    func decode(for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        var frames: [Image.Frame] = []
        let durations = task.header.durations
        for index in 0..<(task.decodesAllFrames ? Int(info.frames) : 1) {
            try task.checkpoint()
            let duration = index < durations.count ? durations[index] : .zero
            do throws(EideticError) {
                frames.append(Image.Frame(pixels: try nextFrame(for: task), duration: duration))
            } catch {
                guard task.acceptsPartial, error.code == .truncated, !frames.isEmpty else { throw error }
                var decoded = DecodedPixels(frames: frames, loopCount: loopCount, iccProfile: iccProfile)
                decoded.isPartial = true
                return decoded
            }
        }
        return DecodedPixels(frames: frames, loopCount: loopCount, iccProfile: iccProfile)
    }

    private var iccProfile: [UInt8]? {
        info.icc.map { Array(UnsafeBufferPointer(start: $0, count: info.icc_count)) }
    }

    private var alpha: PixelBuffer.Alpha {
        guard info.has_alpha, alphaProperties?.isMismatched != true else { return .opaque }
        return info.is_premultiplied ? .premultiplied : .straight
    }

    /// Decodes the next frame and scales it down, because the limit on animations counts frames of the target size.
    private func nextFrame(for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            _ = eidetic_avif_next(handle, memory.bytePointer, stride, &outcome)
            try outcome.check(format: .avif)
            if alphaProperties?.isMismatched == true {
                eidetic_pixels_make_opaque(memory.bytePointer, size.pixelCount)
            } else if alphaProperties?.isLimitedRange == true, alpha == .straight {
                eidetic_pixels_narrow_alpha(memory.bytePointer, size.pixelCount)
            }
        }
        return try Resampler.resample(pixels, to: task.targetSize)
    }
}
#endif
