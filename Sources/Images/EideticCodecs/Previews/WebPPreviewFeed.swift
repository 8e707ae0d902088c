import CWebP
import EideticCore

/// A preview feed of a still WebP, row after row.
final class WebPPreviewFeed: PreviewFeed {
    private let decoder: OpaquePointer
    /// On the heap, because libwebp keeps pointers into it.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let rows: PreviewRows
    private(set) var consumedByteCount = 0
    private var status = VP8_STATUS_SUSPENDED

    /// The number of bytes between two checkpoints.
    private static let bytesPerCheckpoint = 64 << 10

    init(task: DecodeTask) throws(EideticError) {
        rows = try PreviewRows(size: task.header.size)
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        guard WebPInitDecoderConfig(config) != 0 else {
            config.deallocate()
            throw EideticError(.unsupportedFormat, message: "WebP: libwebp has an incompatible version")
        }
        config.pointee.output.colorspace = MODE_RGBA
        config.pointee.output.is_external_memory = 1
        config.pointee.output.u.RGBA.rgba = rows.base
        config.pointee.output.u.RGBA.stride = Int32(rows.bytesPerRow)
        config.pointee.output.u.RGBA.size = rows.bytesPerRow * rows.size.height
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw EideticError(.outOfMemory, message: "WebP: cannot allocate the decoder")
        }
        self.decoder = decoder
    }

    deinit {
        WebPIDelete(decoder)
        config.deallocate()
    }

    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels? {
        let base = bytes.bytePointer
        while consumedByteCount < bytes.count, status == VP8_STATUS_SUSPENDED {
            try task.checkpoint()
            consumedByteCount += min(Self.bytesPerCheckpoint, bytes.count - consumedByteCount)
            // libwebp resumes where it stopped, even if the bytes have moved.
            status = WebPIUpdate(decoder, base, consumedByteCount)
        }
        guard status == VP8_STATUS_OK || status == VP8_STATUS_SUSPENDED else {
            throw EideticError(.corrupt, message: "WebP: the bytes so far are corrupt")
        }
        let rowCount = WebPDecoder.finishedRows(of: decoder, status: status)
        guard rowCount > 0 else { return nil }
        let structure = try WebPStructure(bytes)
        let isPartial = status != VP8_STATUS_OK
        let pixels = try rows.snapshot(
            rowCount: rowCount,
            // Without alpha rows are opaque or, below the last one, transparent black.
            alpha: structure.hasAlpha ? .straight : isPartial ? .premultiplied : .opaque,
            makesOpaque: structure.mayContainUndeclaredAlpha && !structure.hasAlpha
        )
        return DecodedPixels(pixels, colourSpace: structure.colourSpace, isPartial: isPartial)
    }
}
