import CCodec
import EideticCore

extension DecodeTask {
    /// Calls a library that polls whether the picture is still wanted.
    ///
    /// - Throws: What `body` says went wrong; `cancelled` or `limitExceeded` where the library was stopped.
    func withCancellationPolling(
        format: ImageFormat,
        body: (eidetic_codec_watch, inout eidetic_codec_outcome) throws(EideticError) -> Void
    ) throws(EideticError) {
        var outcome = eidetic_codec_outcome()
        var task = self
        try withUnsafeMutablePointer(to: &task) { pointer throws(EideticError) in
            let watch = eidetic_codec_watch(
                goes_on: { context in
                    guard let task = context?.assumingMemoryBound(to: DecodeTask.self) else { return true }
                    return (try? task.pointee.checkpoint()) != nil
                },
                context: pointer
            )
            try body(watch, &outcome)
        }
        if outcome.status == EIDETIC_CODEC_STOPPED { try checkpoint() }
        try outcome.check(format: format)
    }
}

extension eidetic_codec_outcome {
    /// Throws unless the call was successful.
    func check(format: ImageFormat) throws(EideticError) {
        guard let code else { return }
        var message = message
        let text = withUnsafeBytes(of: &message) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        throw EideticError(code, message: "\(format.rawValue): \(text.isEmpty ? "it cannot be decoded" : text)")
    }

    /// The kind of failure; `nil` where there was none.
    private var code: EideticError.Code? {
        switch status {
        case EIDETIC_CODEC_OK: nil
        case EIDETIC_CODEC_NEEDS_MORE, EIDETIC_CODEC_TRUNCATED: .truncated
        case EIDETIC_CODEC_LIMIT: .limitExceeded
        case EIDETIC_CODEC_UNSUPPORTED: .unsupportedFormat
        case EIDETIC_CODEC_NO_MEMORY: .outOfMemory
        case EIDETIC_CODEC_STOPPED: .cancelled
        default: .corrupt
        }
    }
}
