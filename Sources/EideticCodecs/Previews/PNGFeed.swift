import CPNG
import EideticCore

/// PNG as it comes: row after row, or first in blocks where it is interlaced.
final class PNGPreviewFeed: PreviewFeed {
    private let handle: OpaquePointer
    private let rows: PreviewRows
    private(set) var consumedByteCount = 0

    /// Where the next chunk begins whose head has not been seen.
    private var nextChunk = 8

    /// The most bytes of a chunk beside those of the picture: the library keeps such a chunk until all of it is there.
    private static let maximumChunkLength = 1 << 20
    /// Bytes between two questions whether to go on.
    private static let bytesPerCheckpoint = 64 << 10

    init(task: DecodeTask) throws(EideticError) {
        let size = task.header.size
        rows = try PreviewRows(size: size)
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        guard let handle = eidetic_png_feed_create(rows.base, rows.bytesPerRow, width, height) else {
            throw EideticError(.outOfMemory, message: "PNG: no memory for the decoder")
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
            else {
                throw EideticError(.corrupt, message: "PNG: broken in what came so far")
            }
            consumedByteCount += count
        }
        guard eidetic_png_feed_rows(handle) > 0 else { return nil }
        let structure = try PNGStructure(bytes)
        return DecodedPixels(
            try rows.snapshot(alpha: .straight),
            iccProfile: structure.compressedProfile.flatMap {
                ZlibStream.inflate($0, limit: PNGCodec.maximumProfileSize)
            },
            isPartial: eidetic_png_feed_is_complete(handle) == 0
        )
    }

    private func checkChunks(in bytes: UnsafeRawBufferPointer) throws(EideticError) {
        while let length = bytes.bigEndian32(at: nextChunk), bytes.count - nextChunk >= 8 {
            guard bytes.contains("IDAT", at: nextChunk + 4) || length <= Self.maximumChunkLength else {
                throw EideticError(
                    .unsupportedFormat,
                    message: "PNG: a chunk of \(length) bytes beside the picture's, at byte \(nextChunk)"
                )
            }
            nextChunk += 12 + length
        }
    }
}
