import CJPEG
import CPixels
import EideticCore

/// JPEG as it comes: rows of a baseline picture, scan after scan of a progressive one.
///
/// Of a progressive picture each preview is the last whole scan, and what the next one has refined so far.
final class JPEGFeed: PictureFeed {
    private let handle: OpaquePointer
    private let eighths: Int
    private var rows: FeedRows?

    /// Rows between two questions whether to go on.
    private static let batch: UInt32 = 32

    init(_ task: DecodeTask) throws(EideticError) {
        guard let handle = eidetic_jpeg_feed_create() else {
            throw EideticError(.outOfMemory, "JPEG: no memory for the decoder")
        }
        self.handle = handle
        eighths = JPEGCodec.eighths(task)
    }

    deinit { eidetic_jpeg_feed_destroy(handle) }

    var taken: Int { eidetic_jpeg_feed_consumed(handle) }

    func picture(of bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture? {
        eidetic_jpeg_feed_give(handle, bytes.bytePointer, bytes.count)
        defer { eidetic_jpeg_feed_take_back(handle, bytes.count) }
        guard let rows = try start() else { return nil }
        while try absorb() { try task.checkpoint() }
        try check(eidetic_jpeg_feed_begin_pass(handle))
        while try readRows(rows) { try task.checkpoint() }
        guard eidetic_jpeg_feed_rows(handle) > 0 else { return nil }
        return try picture(rows, try JPEGSegments(bytes).iccProfile)
    }

    /// The memory for the rows, once their size is known.
    private func start() throws(EideticError) -> FeedRows? {
        var isDone: Int32 = 0
        try check(eidetic_jpeg_feed_start(handle, UInt32(eighths), &isDone))
        guard isDone != 0, rows == nil else { return rows }
        let width = Int(eidetic_jpeg_feed_width(handle)), height = Int(eidetic_jpeg_feed_height(handle))
        rows = try FeedRows(PixelSize(width: width, height: height))
        return rows
    }

    private func absorb() throws(EideticError) -> Bool {
        var isDone: Int32 = 0
        try check(eidetic_jpeg_feed_absorb(handle, &isDone))
        return isDone == 0
    }

    private func readRows(_ rows: FeedRows) throws(EideticError) -> Bool {
        var read: UInt32 = 0
        try check(eidetic_jpeg_feed_read_rows(handle, rows.base, rows.bytesPerRow, Self.batch, &read))
        return read > 0
    }

    private func picture(_ rows: FeedRows, _ profile: [UInt8]?) throws(EideticError) -> CodecPicture {
        let model = eidetic_jpeg_feed_model(handle)
        // Ink that is missing leaves the paper white.
        let isWhole = Int(eidetic_jpeg_feed_rows(handle)) == rows.size.height
        var pixels = try rows.snapshot(isWhole || model != EIDETIC_JPEG_RGBA ? .opaque : .straight)
        if model == EIDETIC_JPEG_INVERTED_CMYK { pixels = try inverted(pixels) }
        return CodecPicture(
            pixels,
            iccProfile: profile,
            colorModel: model == EIDETIC_JPEG_RGBA ? .rgb : .cmyk,
            isPartial: eidetic_jpeg_feed_is_complete(handle) == 0
        )
    }

    /// What is not there yet stays without ink.
    private func inverted(_ pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        let known = pixels.bytesPerRow * Int(eidetic_jpeg_feed_rows(handle))
        return try PixelBuffer(size: pixels.size, alpha: .opaque) { target, _ in
            pixels.withUnsafeBytes { target.copyMemory(from: $0) }
            eidetic_pixels_invert(target.bytePointer, known)
        }
    }

    private func check(_ status: eidetic_jpeg_status) throws(EideticError) {
        guard status == EIDETIC_JPEG_OK else { throw EideticError(.corrupt, "JPEG: broken in what came so far") }
    }
}
