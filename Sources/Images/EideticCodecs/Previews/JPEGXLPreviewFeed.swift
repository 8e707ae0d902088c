#if JPEGXL
import EideticCore

/// A preview feed of the first frame of a JPEG XL: the passes that have arrived.
final class JPEGXLPreviewFeed: PreviewFeed {
    private var file: JPEGXLFile?
    private var rows: PreviewRows?
    private(set) var consumedByteCount = 0
    private var isComplete = false

    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels? {
        try task.checkpoint()
        try open(bytes)
        guard let file, let rows else { return nil }
        defer { consumedByteCount = file.pause() }
        if !isComplete {
            let state = try file.continueFirstFrame(into: rows.bytes)
            isComplete = state.isComplete
            guard state.isVisible else { return nil }
        }
        return DecodedPixels(
            try rows.snapshot(alpha: file.alpha),
            colourSpace: file.colourSpace,
            isPartial: !isComplete
        )
    }

    private func open(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        if let file { return file.extend(bytes, isComplete: false) }
        file = try JPEGXLFile(bytes, isComplete: false, decodesPixels: true)
        rows = try file.map { file throws(EideticError) in try PreviewRows(size: file.size) }
    }
}
#endif
