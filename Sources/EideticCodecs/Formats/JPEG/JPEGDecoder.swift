import CJPEG
import EideticCore

/// Owns one decoder of libjpeg.
struct JPEGDecoder: ~Copyable {
    private let handle: OpaquePointer
    private let byteCount: Int

    /// - Precondition: `bytes` outlives the decoder.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let handle = eidetic_jpeg_decoder_create(base, bytes.count) else {
            throw EideticError(.outOfMemory, message: "JPEG: no memory for the decoder")
        }
        self.handle = handle
        byteCount = bytes.count
    }

    deinit { eidetic_jpeg_decoder_destroy(handle) }

    /// Reads up to the first scan; the picture will come at `eighths` eighths of its size.
    func readHeader(scaleNumerator: Int) throws(EideticError) {
        try check(eidetic_jpeg_read_header(handle, UInt32(scaleNumerator)))
    }

    /// The size as the library understands it.
    var storedSize: PixelSize {
        PixelSize(
            width: Int(eidetic_jpeg_stored_width(handle)),
            height: Int(eidetic_jpeg_stored_height(handle))
        )
    }

    /// The size in which rows come.
    var outputSize: PixelSize {
        PixelSize(
            width: Int(eidetic_jpeg_output_width(handle)),
            height: Int(eidetic_jpeg_output_height(handle))
        )
    }

    /// What the rows' bytes are.
    var outputModel: eidetic_jpeg_model { eidetic_jpeg_output_model(handle) }

    /// Reads one more row of blocks of a picture with several scans; false after the last.
    func consumeInput() throws(EideticError) -> Bool {
        var done: Int32 = 0
        try check(eidetic_jpeg_absorb(handle, &done))
        return done == 0
    }

    /// Begins to give rows.
    func startOutput() throws(EideticError) { try check(eidetic_jpeg_start(handle)) }

    /// Decodes up to `count` rows, and tells how many there were.
    func readRows(into rows: UnsafeMutableRawPointer, bytesPerRow: Int, count: Int) throws(EideticError) -> Int {
        var read: UInt32 = 0
        let target = rows.assumingMemoryBound(to: UInt8.self)
        try check(eidetic_jpeg_read_rows(handle, target, bytesPerRow, UInt32(count), &read))
        return Int(read)
    }

    /// What was missing or wrong in the image data, though the library filled the gap.
    var damage: EideticError? {
        if eidetic_jpeg_is_truncated(handle) != 0 {
            return EideticError(
                .truncated,
                message: "JPEG: ends after \(byteCount) bytes, before the picture is complete"
            )
        }
        guard eidetic_jpeg_is_damaged(handle) != 0 else { return nil }
        return error(code: .corrupt)
    }

    private func check(_ status: eidetic_jpeg_status) throws(EideticError) {
        switch status {
        case EIDETIC_JPEG_OK: return
        case EIDETIC_JPEG_OUT_OF_MEMORY: throw error(code: .outOfMemory)
        case EIDETIC_JPEG_UNSUPPORTED: throw error(code: .unsupportedFormat)
        default: throw error(code: eidetic_jpeg_is_truncated(handle) != 0 ? .truncated : .corrupt)
        }
    }

    private func error(code: EideticError.Code) -> EideticError {
        let message = String(cString: eidetic_jpeg_message(handle))
        return EideticError(
            code,
            message: "JPEG: \(message), before byte \(eidetic_jpeg_offset(handle)) of \(byteCount)"
        )
    }
}
