import CCodec
import EideticCore

extension DecodeTask {
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
