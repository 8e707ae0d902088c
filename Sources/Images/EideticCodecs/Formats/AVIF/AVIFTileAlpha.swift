#if AVIF
import CAVIF
import CCodec
import CPixels
import EideticCore

/// The alpha of a grid that belongs to its tiles, one by one, which libavif before 1.0 leaves out.
///
/// It is the image of a copy of the file in which the alphas are the grid's tiles.
///
/// - SeeAlso: ISO/IEC 23000-22, 7.3.5.2.
final class AVIFTileAlpha {
    private let handle: OpaquePointer
    private let size: PixelSize
    /// The bytes that the library reads.
    private let copy: FileCopy

    /// Opens the alpha of a still image of this size; `nil` if the tiles have none, or the library refuses it.
    ///
    /// - Throws: `outOfMemory`, and `truncated` if the file ends before the alpha.
    init?(of bytes: UnsafeRawBufferPointer, size: PixelSize) throws(EideticError) {
        guard let items = HEIFItemIndex(bytes), let tiles = items.alphaTiles,
            let copy = try AVIFForeignBoxes.readableCopy(
                of: bytes,
                isComplete: true,
                with: [tiles]
            )
        else { return nil }
        self.copy = copy
        self.size = size
        var outcome = eidetic_codec_outcome()
        var info = eidetic_avif_info()
        let pixels = UInt32(clamping: size.pixelCount)
        let opened = eidetic_avif_open(copy.bytes.baseAddress, copy.bytes.count, true, pixels, 1, &info, &outcome)
        if outcome.status == EIDETIC_CODEC_TRUNCATED || outcome.status == EIDETIC_CODEC_NO_MEMORY {
            try outcome.check(format: .avif)
        }
        guard let opened else { return nil }
        handle = opened
        guard info.width == size.width, info.height == size.height, info.frames == 1 else { return nil }
        eidetic_avif_read_brightness(handle)
        if let pixels = items.largestTile { eidetic_avif_limit_frames(handle, pixels) }
    }

    deinit { eidetic_avif_close(handle) }

    /// Writes the alpha into pixels of the size of the image, without gaps between rows.
    ///
    /// - Throws: `outOfMemory`, and the errors of damaged tiles.
    func write(to pixels: UnsafeMutableRawBufferPointer) throws(EideticError) {
        let brightness = try ScratchBuffer(byteCount: 4 * size.pixelCount)
        var outcome = eidetic_codec_outcome()
        _ = eidetic_avif_next(handle, false, brightness.bytes.bytePointer, 4 * size.width, &outcome)
        try outcome.check(format: .avif)
        eidetic_pixels_copy_red_to_alpha(brightness.bytes.bytePointer, pixels.bytePointer, size.pixelCount)
    }
}
#endif
