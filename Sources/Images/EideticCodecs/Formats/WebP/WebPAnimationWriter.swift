import CWebP
import EideticCore

/// A writer of an animated WebP by libwebpmux, which stores of each frame what differs from the one before.
///
/// Frames that are equal to the one before become a longer duration of that one.
final class WebPAnimationWriter {
    private let encoder: OpaquePointer
    private var config = WebPConfig()
    private var time = Int32(0)

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - size: The size of all frames.
    ///   - loopCount: The number of times that the frames play; `nil` for ever.
    ///   - quality: The quality, from 0 to 1; 1 is lossless.
    /// - Throws: `encodingFailed` or `outOfMemory`.
    init(size: PixelSize, loopCount: Int?, quality: Double) throws(EideticError) {
        var settings = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&settings) != 0, WebPConfigInit(&config) != 0 else {
            throw Self.error(reason: "libwebpmux has another version than its headers")
        }
        settings.anim_params.loop_count = Int32(loopCount.map { min(65_535, max(1, $0)) } ?? 0)
        // Without loss it is the effort: as for stills by `WebPEncodeLosslessRGBA`.
        config.quality = quality == 1 ? 70 : Float(quality * 100)
        config.lossless = quality == 1 ? 1 : 0
        guard let encoder = WebPAnimEncoderNew(Int32(size.width), Int32(size.height), &settings) else {
            throw Self.memoryError(size: size)
        }
        self.encoder = encoder
    }

    deinit { WebPAnimEncoderDelete(encoder) }

    func add(_ frame: Image.Frame) throws(EideticError) {
        let pixels = try frame.pixels.unpremultiplied()
        let size = pixels.size
        var source = WebPPicture()
        guard WebPPictureInit(&source) != 0 else { throw error }
        defer { WebPPictureFree(&source) }
        source.use_argb = 1
        source.width = Int32(size.width)
        source.height = Int32(size.height)
        let isImported = pixels.withUnsafeBytes {
            WebPPictureImportRGBA(&source, $0.bytePointer, Int32(pixels.bytesPerRow)) != 0
        }
        guard isImported else { throw Self.memoryError(size: size) }
        guard WebPAnimEncoderAdd(encoder, &source, time, &config) != 0 else { throw error }
        // Durations have 24 bits; the sum must fit as well.
        let milliseconds = Int32(min(max(frame.duration.inMilliseconds.rounded(), 0), 16_777_215))
        let (sum, overflow) = time.addingReportingOverflow(milliseconds)
        guard !overflow else { throw Self.error(reason: "the animation is longer than 24 days") }
        time = sum
    }

    func finish() throws(EideticError) -> [UInt8] {
        var data = WebPData()
        WebPDataInit(&data)
        defer { WebPDataClear(&data) }
        guard WebPAnimEncoderAdd(encoder, nil, time, nil) != 0, WebPAnimEncoderAssemble(encoder, &data) != 0 else {
            throw error
        }
        return Array(UnsafeBufferPointer(start: data.bytes, count: data.size))
    }

    private var error: EideticError {
        Self.error(reason: WebPAnimEncoderGetError(encoder).map { String(cString: $0) } ?? "libwebpmux failed")
    }

    private static func error(reason: String) -> EideticError {
        EideticError(.encodingFailed, message: "WebP: \(reason)")
    }

    private static func memoryError(size: PixelSize) -> EideticError {
        EideticError(.outOfMemory, message: "WebP: not enough memory for frames of \(size) pixels")
    }
}
