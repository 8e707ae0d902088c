import CPNG
import EideticCore

/// A preview feed of a PNG: row after row, or in blocks if it is interlaced.
final class PNGPreviewFeed: PreviewFeed {
    private let handle: OpaquePointer
    private let rows: PreviewRows
    private(set) var consumedByteCount = 0

    /// The offset of the next chunk whose length has not been checked.
    private var nextChunk = 8

    /// The maximum length of a chunk other than `IDAT`: libpng buffers such a chunk until it is complete.
    private static let maximumChunkLength = 1 << 20
    /// The number of bytes between two checkpoints.
    private static let bytesPerCheckpoint = 64 << 10

    init(task: DecodeTask) throws(EideticError) {
        let size = task.header.size
        rows = try PreviewRows(size: size)
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        guard let handle = eidetic_png_feed_create(rows.base, rows.bytesPerRow, width, height) else {
            throw EideticError(.outOfMemory, message: "PNG: cannot allocate the decoder")
        }
        self.handle = handle
    }

    deinit { eidetic_png_feed_destroy(handle) }

    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels? {
        try checkChunks(in: bytes)
        while consumedByteCount < bytes.count {
            try task.checkpoint()
            let count = min(Self.bytesPerCheckpoint, bytes.count - consumedByteCount)
            guard
                eidetic_png_feed_add(handle, bytes.bytePointer.map { $0 + consumedByteCount }, count) == EIDETIC_PNG_OK
            else { throw EideticError(.corrupt, message: "PNG: the bytes so far are corrupt") }
            consumedByteCount += count
        }
        guard eidetic_png_feed_rows(handle) > 0 else { return nil }
        let structure = try PNGStructure(bytes)
        return DecodedPixels(
            structure.isInterlaced
                ? try rows.snapshot(alpha: .straight)
                : try rows.snapshot(rowCount: Int(eidetic_png_feed_rows(handle)), alpha: .straight),
            colourSpace: structure.colourSpace,
            isPartial: eidetic_png_feed_is_complete(handle) == 0
        )
    }

    private func checkChunks(in bytes: UnsafeRawBufferPointer) throws(EideticError) {
        while let length = bytes.bigEndian32(at: nextChunk), bytes.count - nextChunk >= 8 {
            guard bytes.contains("IDAT", at: nextChunk + 4) || length <= Self.maximumChunkLength else {
                throw EideticError(
                    .unsupportedFormat,
                    message: "PNG: the chunk at byte \(nextChunk) has \(length) bytes, too many for previews"
                )
            }
            nextChunk += 12 + length
        }
    }
}
