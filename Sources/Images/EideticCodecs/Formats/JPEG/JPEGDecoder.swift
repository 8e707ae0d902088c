import CJPEG
import EideticCore

/// The owner of one libjpeg decoder.
struct JPEGDecoder: ~Copyable {
    private let handle: OpaquePointer
    private let byteCount: Int

    /// Creates a decoder.
    ///
    /// - Precondition: `bytes` outlives the decoder.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let handle = eidetic_jpeg_decoder_create(base, bytes.count) else {
            throw EideticError(.outOfMemory, message: "JPEG: cannot allocate the decoder")
        }
        self.handle = handle
        byteCount = bytes.count
    }

    deinit { eidetic_jpeg_decoder_destroy(handle) }

    /// Reads up to the first scan, and sets the scale of the output to `scaleNumerator` eighths.
    func readHeader(scaleNumerator: Int) throws(EideticError) {
        try check(eidetic_jpeg_read_header(handle, UInt32(scaleNumerator)))
    }

    /// The size in the frame header.
    var storedSize: PixelSize {
        let info = eidetic_jpeg_decoder_info(handle)
        return PixelSize(width: Int(info.stored_width), height: Int(info.stored_height))
    }

    var outputSize: PixelSize {
        let info = eidetic_jpeg_decoder_info(handle)
        return PixelSize(width: Int(info.width), height: Int(info.height))
    }

    var outputModel: eidetic_jpeg_model { eidetic_jpeg_decoder_info(handle).model }

    /// Reads one more row of blocks of an image with several scans.
    ///
    /// - Returns: `true` until the last scan is complete; then, `false`.
    func consumeInput() throws(EideticError) -> Bool {
        var done: Int32 = 0
        try check(eidetic_jpeg_consume_input(handle, &done))
        return done == 0
    }

    func startOutput() throws(EideticError) { try check(eidetic_jpeg_start(handle)) }

    /// Decodes up to `count` rows.
    func readRows(into rows: UnsafeMutableRawPointer, bytesPerRow: Int, count: Int) throws(EideticError) -> Int {
        var read: UInt32 = 0
        let target = rows.assumingMemoryBound(to: UInt8.self)
        try check(eidetic_jpeg_read_rows(handle, target, bytesPerRow, UInt32(count), &read))
        return Int(read)
    }

    /// The error of missing or corrupt pixels that the library has filled in; `nil` if the image is intact.
    var damage: EideticError? {
        if isTruncated {
            return EideticError(
                .truncated,
                message: "JPEG: the file ends after \(byteCount) bytes, before the image is complete"
            )
        }
        guard eidetic_jpeg_is_damaged(handle) != 0 else { return nil }
        return error(code: .corrupt)
    }

    /// A Boolean value indicating whether the file has ended before the image.
    var isTruncated: Bool { eidetic_jpeg_is_truncated(handle) != 0 }

    private func check(_ status: eidetic_jpeg_status) throws(EideticError) {
        switch status {
        case EIDETIC_JPEG_OK: return
        case EIDETIC_JPEG_OUT_OF_MEMORY: throw error(code: .outOfMemory)
        case EIDETIC_JPEG_UNSUPPORTED: throw error(code: .unsupportedFormat)
        case EIDETIC_JPEG_TOO_MANY_SCANS:
            throw EideticError(.limitExceeded, message: "JPEG: more than \(EIDETIC_JPEG_MAXIMUM_SCANS) scans")
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
