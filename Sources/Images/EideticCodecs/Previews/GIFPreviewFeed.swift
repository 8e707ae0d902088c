import CPixels
import EideticCore

/// A preview feed of the first frame of a GIF.
final class GIFPreviewFeed: PreviewFeed {
    private let handle: OpaquePointer
    private let indices: ScratchBuffer
    private var count = 0

    init(task: DecodeTask, bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let frame = try GIFStructure(bytes).frames.first,
            frame.area.size.pixelCount <= task.limits.pixels
        else { throw EideticError(.limitExceeded, message: "GIF: the first frame has more pixels than the limit") }
        indices = try ScratchBuffer(byteCount: frame.area.size.pixelCount)
        guard let handle = eidetic_lzw_create(Int32(frame.codeSize)) else {
            throw EideticError(.corrupt, message: "GIF: invalid code size of \(frame.codeSize) bits, or no memory")
        }
        self.handle = handle
    }

    deinit { eidetic_lzw_destroy(handle) }

    var consumedByteCount: Int { eidetic_lzw_consumed(handle) }

    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels? {
        try task.checkpoint()
        let structure = try GIFStructure(bytes)
        guard let frame = structure.frames.first, frame.area.size.pixelCount == indices.bytes.count,
            frame.data.count >= consumedByteCount
        else { throw EideticError(.corrupt, message: "GIF: the bytes differ from those of the previous preview") }
        let (target, capacity) = (indices.bytes.bytePointer, indices.bytes.count)
        let status = eidetic_lzw_continue(handle, frame.data.bytePointer, frame.data.count, target, capacity, &count)
        guard status != EIDETIC_LZW_CORRUPT else {
            throw EideticError(.corrupt, message: "GIF: the bytes so far are corrupt")
        }
        guard count > 0 else { return nil }
        let decodedIndices = UnsafeRawBufferPointer(rebasing: indices.bytes[..<count])
        let pixels = try GIFCodec.applyPalette(
            to: decodedIndices,
            of: frame,
            in: FrameArea(canvas: structure.size),
            hasAlpha: true
        )
        return DecodedPixels(pixels, isPartial: status == EIDETIC_LZW_TRUNCATED)
    }
}
