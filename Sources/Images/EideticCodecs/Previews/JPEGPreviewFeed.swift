import CJPEG
import CPixels
import EideticCore

/// A preview feed of a JPEG: rows of a baseline image, or successive scans of a progressive one.
///
/// A preview of a progressive image is the last complete scan, refined by the part of the next one that has arrived.
final class JPEGPreviewFeed: PreviewFeed {
    private let handle: OpaquePointer
    private let scaleNumerator: Int
    private var rows: PreviewRows?

    /// The number of rows between two checkpoints.
    private static let rowsPerCheckpoint: UInt32 = 32

    init(task: DecodeTask) throws(EideticError) {
        guard let handle = eidetic_jpeg_feed_create() else {
            throw EideticError(.outOfMemory, message: "JPEG: cannot allocate the decoder")
        }
        self.handle = handle
        scaleNumerator = JPEGCodec.scaleNumerator(for: task)
    }

    deinit { eidetic_jpeg_feed_destroy(handle) }

    var consumedByteCount: Int { eidetic_jpeg_feed_consumed(handle) }

    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels? {
        eidetic_jpeg_feed_set_input(handle, bytes.bytePointer, bytes.count)
        defer { eidetic_jpeg_feed_clear_input(handle, bytes.count) }
        guard let rows = try prepareRows() else { return nil }
        while try consumeInput() { try task.checkpoint() }
        try check(eidetic_jpeg_feed_start_pass(handle))
        guard let pixels = try readPass(into: rows, for: task) else { return nil }
        return try makeDecodedPixels(pixels, profile: try JPEGSegments(bytes).iccProfile)
    }

    /// Reads the rows of the current pass; those of a later pass than the first go into the preview itself.
    private func readPass(into rows: PreviewRows, for task: DecodeTask) throws(EideticError) -> PixelBuffer? {
        if eidetic_jpeg_feed_is_later_pass(handle) != 0 {
            return try rows.fill(alpha: .opaque) { target throws(EideticError) in
                while try readRows(to: target, of: rows) { try task.checkpoint() }
            }
        }
        while try readRows(to: rows.base, of: rows) { try task.checkpoint() }
        let rowCount = Int(eidetic_jpeg_feed_rows(handle))
        if rowCount == 0 { return nil }
        // A pixel without ink is white.
        let isOpaque = rowCount == rows.size.height || eidetic_jpeg_feed_info(handle).model != EIDETIC_JPEG_RGBA
        return try rows.snapshot(rowCount: rowCount, alpha: isOpaque ? .opaque : .premultiplied)
    }

    /// Reads the header, and allocates the rows once their size is known.
    private func prepareRows() throws(EideticError) -> PreviewRows? {
        var isDone: Int32 = 0
        try check(eidetic_jpeg_feed_start(handle, UInt32(scaleNumerator), &isDone))
        guard isDone != 0, rows == nil else { return rows }
        let info = eidetic_jpeg_feed_info(handle)
        rows = try PreviewRows(size: PixelSize(width: Int(info.width), height: Int(info.height)))
        return rows
    }

    private func consumeInput() throws(EideticError) -> Bool {
        var isDone: Int32 = 0
        try check(eidetic_jpeg_feed_consume_input(handle, &isDone))
        return isDone == 0
    }

    private func readRows(
        to target: UnsafeMutablePointer<UInt8>?,
        of rows: PreviewRows
    ) throws(EideticError) -> Bool {
        var read: UInt32 = 0
        try check(eidetic_jpeg_feed_read_rows(handle, target, rows.bytesPerRow, Self.rowsPerCheckpoint, &read))
        return read > 0
    }

    private func makeDecodedPixels(
        _ pixels: PixelBuffer,
        profile: [UInt8]?
    ) throws(EideticError) -> DecodedPixels {
        let model = eidetic_jpeg_feed_info(handle).model
        return DecodedPixels(
            model == EIDETIC_JPEG_CMYK ? try inverted(pixels) : pixels,
            colourSpace: profile.map(ColourSpace.profile),
            colorModel: model == EIDETIC_JPEG_RGBA ? .rgb : .cmyk,
            isPartial: eidetic_jpeg_feed_is_complete(handle) == 0
        )
    }

    /// Inverts the decoded rows; the others stay without ink.
    private func inverted(_ pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        let decodedByteCount = pixels.bytesPerRow * Int(eidetic_jpeg_feed_rows(handle))
        return try PixelBuffer(size: pixels.size, alpha: .opaque) { target, _ in
            pixels.withUnsafeBytes { target.copyMemory(from: $0) }
            eidetic_pixels_invert(target.bytePointer, decodedByteCount)
        }
    }

    private func check(_ status: eidetic_jpeg_status) throws(EideticError) {
        guard status == EIDETIC_JPEG_OK else {
            throw EideticError(.corrupt, message: "JPEG: the bytes so far are corrupt")
        }
    }
}
