import CPNG
import EideticCore

/// PNG as it comes: row after row, or first in blocks where it is interlaced.
final class PNGFeed: PictureFeed {
    private let handle: OpaquePointer
    private let rows: FeedRows
    private(set) var taken = 0

    /// Where the next chunk begins whose head has not been seen.
    private var nextChunk = 8

    /// The most bytes of a chunk beside those of the picture: the library keeps such a chunk until all of it is there.
    private static let mostOfChunk = 1 << 20
    /// Bytes between two questions whether to go on.
    private static let batch = 64 << 10

    init(_ task: DecodeTask) throws(EideticError) {
        let size = task.header.size
        rows = try FeedRows(size)
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        guard let handle = eidetic_png_feed_create(rows.base, rows.bytesPerRow, width, height) else {
            throw EideticError(.outOfMemory, "PNG: no memory for the decoder")
        }
        self.handle = handle
    }

    deinit { eidetic_png_feed_destroy(handle) }

    func picture(of bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture? {
        try checkChunks(bytes)
        while taken < bytes.count {
            try task.checkpoint()
            let count = min(Self.batch, bytes.count - taken)
            guard eidetic_png_feed_add(handle, bytes.bytePointer.map { $0 + taken }, count) == EIDETIC_PNG_OK else {
                throw EideticError(.corrupt, "PNG: broken in what came so far")
            }
            taken += count
        }
        guard eidetic_png_feed_rows(handle) > 0 else { return nil }
        let structure = try PNGStructure(bytes)
        return CodecPicture(
            try rows.snapshot(.straight),
            iccProfile: structure.compressedProfile.flatMap { ZlibStream.inflate($0, limit: PNGCodec.profileLimit) },
            isPartial: eidetic_png_feed_is_complete(handle) == 0
        )
    }

    private func checkChunks(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        while let length = bytes.big32(nextChunk), bytes.count - nextChunk >= 8 {
            guard bytes.contains("IDAT", at: nextChunk + 4) || length <= Self.mostOfChunk else {
                throw EideticError(
                    .unsupportedFormat,
                    "PNG: a chunk of \(length) bytes beside the picture's, at byte \(nextChunk)"
                )
            }
            nextChunk += 12 + length
        }
    }
}
