import CWebP
import EideticCore

/// A still WebP as it comes, row after row.
final class WebPFeed: PictureFeed {
    private let decoder: OpaquePointer
    /// The library keeps pointers into it.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let rows: FeedRows
    private(set) var taken = 0
    private var status = VP8_STATUS_SUSPENDED

    /// Bytes between two questions whether to go on.
    private static let batch = 64 << 10

    init(_ task: DecodeTask) throws(EideticError) {
        rows = try FeedRows(task.header.size)
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        guard WebPInitDecoderConfig(config) != 0 else {
            config.deallocate()
            throw EideticError(.unsupportedFormat, "WebP: the library is of another version")
        }
        config.pointee.output.colorspace = MODE_RGBA
        config.pointee.output.is_external_memory = 1
        config.pointee.output.u.RGBA.rgba = rows.base
        config.pointee.output.u.RGBA.stride = Int32(rows.bytesPerRow)
        config.pointee.output.u.RGBA.size = rows.bytesPerRow * rows.size.height
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw EideticError(.outOfMemory, "WebP: no memory for the decoder")
        }
        self.decoder = decoder
    }

    deinit {
        WebPIDelete(decoder)
        config.deallocate()
    }

    func picture(of bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture? {
        let from = bytes.bytePointer
        while taken < bytes.count, status == VP8_STATUS_SUSPENDED {
            try task.checkpoint()
            taken += min(Self.batch, bytes.count - taken)
            // The library goes on where it stopped, wherever the bytes are now.
            status = WebPIUpdate(decoder, from, taken)
        }
        guard status == VP8_STATUS_OK || status == VP8_STATUS_SUSPENDED else {
            throw EideticError(.corrupt, "WebP: broken in what came so far")
        }
        var lastRow: Int32 = 0
        guard WebPIDecGetRGB(decoder, &lastRow, nil, nil, nil) != nil, lastRow > 0 else { return nil }
        let structure = try WebPStructure(bytes), isPartial = status != VP8_STATUS_OK
        let deniesAlpha = structure.mayHideAlpha && !structure.hasAlpha
        let pixels = try rows.snapshot(.straight, opaqueRows: deniesAlpha ? Int(lastRow) : 0)
        return CodecPicture(pixels, iccProfile: structure.iccProfile, isPartial: isPartial)
    }
}
