import CPixels
import EideticCore

/// The first frame of a GIF as it comes.
final class GIFFeed: PictureFeed {
    private let handle: OpaquePointer
    private let numbers: ScratchMemory
    private var count = 0

    init(_ task: DecodeTask, _ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let frame = try GIFStructure(bytes).frames.first,
            frame.area.size.pixelCount <= task.limits.pixels
        else { throw EideticError(.limitExceeded, "GIF: the first frame has more pixels than the limit") }
        numbers = try ScratchMemory(byteCount: frame.area.size.pixelCount)
        guard let handle = eidetic_lzw_create(Int32(frame.codeSize)) else {
            throw EideticError(.corrupt, "GIF: codes of \(frame.codeSize) bits, or no memory for them")
        }
        self.handle = handle
    }

    deinit { eidetic_lzw_destroy(handle) }

    var taken: Int { eidetic_lzw_consumed(handle) }

    func picture(of bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture? {
        try task.checkpoint()
        let structure = try GIFStructure(bytes)
        guard let frame = structure.frames.first, frame.area.size.pixelCount == numbers.bytes.count,
            frame.data.count >= taken
        else { throw EideticError(.corrupt, "GIF: other bytes than those that came before") }
        let (target, capacity) = (numbers.bytes.bytePointer, numbers.bytes.count)
        let status = eidetic_lzw_continue(handle, frame.data.bytePointer, frame.data.count, target, capacity, &count)
        guard status != EIDETIC_LZW_CORRUPT else { throw EideticError(.corrupt, "GIF: broken in what came so far") }
        guard count > 0 else { return nil }
        let known = UnsafeRawBufferPointer(rebasing: numbers.bytes[..<count])
        let pixels = try GIFCodec.colour(known, frame, in: FrameArea(structure.size), true)
        return CodecPicture(pixels, isPartial: status != EIDETIC_LZW_OK)
    }
}
