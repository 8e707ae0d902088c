import CCodec
import EideticCore

/// The input of a codec apart from the bytes: the header, the requested frames and size, the limits, and cancellation.
struct DecodeTask {
    /// The header that the codec itself has read.
    let header: ImageHeader
    /// The parsed document from the codec's `open(_:format:)`.
    var document: AnyObject?
    /// The target size in stored orientation; never larger than the header's size, except for SVG.
    ///
    /// A codec may decode to any size from this one up, and chooses the cheapest without visible loss.
    let targetSize: PixelSize
    /// A Boolean value indicating whether all frames are decoded, instead of the first one alone.
    let decodesAllFrames: Bool
    /// A Boolean value indicating whether a truncated image is decoded as far as possible instead of being an error.
    var acceptsPartial: Bool
    /// A Boolean value indicating whether colours are converted to sRGB, for codecs that do it before bits are lost.
    var convertsColours = true
    /// A Boolean value indicating whether a codec that copies pixels anyway may multiply colours by alpha meanwhile.
    var mayPremultiply = false
    let limits: DecodeLimits
    /// The context by which a caller cancels the decode.
    let context: JobContext
    /// The instant at which the time limit ends.
    let deadline: ContinuousClock.Instant

    /// Throws an error if the decode was cancelled or has exceeded its time limit.
    ///
    /// Cheap enough to be called every few rows.
    func checkpoint() throws(EideticError) {
        try context.checkCancellation()
        guard ContinuousClock.now < deadline else {
            throw EideticError(.limitExceeded, message: "decoding took longer than the limit of \(limits.duration)")
        }
    }

    /// Returns the bytes of `canvasCount` images of the stored size, plus all requested frames at the target size.
    func estimatedMemory(canvasCount: Int) -> Int {
        let frames = decodesAllFrames ? Double(header.frameCount) * Double(targetSize.pixelCount) : 0
        let bytes = 4 * (frames + Double(canvasCount) * Double(header.size.pixelCount))
        return bytes < 0x1p62 ? Int(bytes) : .max
    }

    /// Returns the converter for pixels of 16 bits per channel; `nil` if their colours are not to be converted.
    func deepConverter(from colourSpace: ColourSpace?) -> ColourConverter? {
        guard convertsColours else { return nil }
        return colourSpace.flatMap { ColourConverter(from: $0, isDeep: true) }
    }

    /// Returns an error that leaves a partial image, if the task accepts one and there are pixels; throws all others.
    func damage(_ error: EideticError, keeps hasPixels: Bool = true) throws(EideticError) -> EideticError {
        guard acceptsPartial, hasPixels, [.truncated, .corrupt].contains(error.code) else { throw error }
        return error
    }

    /// A copy of the task for which missing or corrupt pixels are an error.
    var rejectingPartial: DecodeTask {
        var task = self
        task.acceptsPartial = false
        return task
    }

    /// Calls a C library with a callback that the library polls for cancellation and the deadline.
    ///
    /// - Throws: The error of `body`; `cancelled` or `limitExceeded` if the callback stopped the library.
    func withCancellationPolling(
        format: ImageFormat,
        body: (eidetic_codec_cancellation, inout eidetic_codec_outcome) throws(EideticError) -> Void
    ) throws(EideticError) {
        var outcome = eidetic_codec_outcome()
        var task = self
        try withUnsafeMutablePointer(to: &task) { pointer throws(EideticError) in
            let cancellation = eidetic_codec_cancellation(
                should_continue: { context in
                    guard let task = context?.assumingMemoryBound(to: DecodeTask.self) else { return true }
                    return (try? task.pointee.checkpoint()) != nil
                },
                context: pointer
            )
            try body(cancellation, &outcome)
        }
        if outcome.status == EIDETIC_CODEC_CANCELLED { try checkpoint() }
        try outcome.check(format: format)
    }
}

extension eidetic_codec_outcome {
    /// Throws an error unless the call succeeded.
    func check(format: ImageFormat) throws(EideticError) {
        guard let code else { return }
        var message = message
        let text = withUnsafeBytes(of: &message) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        throw EideticError(code, message: "\(format.rawValue): \(text.isEmpty ? "decoding failed" : text)")
    }

    /// Throws an error of encoding unless the call succeeded.
    func checkEncoding(format: ImageFormat) throws(EideticError) {
        do throws(EideticError) {
            try check(format: format)
        } catch {
            let isOwn = error.code == .unsupportedFormat || error.code == .outOfMemory
            throw EideticError(isOwn ? error.code : .encodingFailed, message: error.message)
        }
    }

    /// The error code of the outcome; `nil` after success.
    private var code: EideticError.Code? {
        switch status {
        case EIDETIC_CODEC_OK: nil
        case EIDETIC_CODEC_NEEDS_MORE, EIDETIC_CODEC_TRUNCATED: .truncated
        case EIDETIC_CODEC_LIMIT: .limitExceeded
        case EIDETIC_CODEC_UNSUPPORTED: .unsupportedFormat
        case EIDETIC_CODEC_NO_MEMORY: .outOfMemory
        case EIDETIC_CODEC_CANCELLED: .cancelled
        default: .corrupt
        }
    }
}
