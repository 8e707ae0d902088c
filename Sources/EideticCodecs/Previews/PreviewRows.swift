import CPixels
import EideticCore

/// The rows of an incomplete image; missing rows are transparent.
final class PreviewRows {
    let size: PixelSize
    private let memory: ScratchBuffer

    init(size: PixelSize) throws(EideticError) {
        self.size = size
        memory = try ScratchBuffer(byteCount: 4 * size.pixelCount)
        memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    var bytesPerRow: Int { 4 * size.width }

    var base: UnsafeMutablePointer<UInt8>? { memory.bytes.bytePointer }

    /// Returns a copy of the rows with the given alpha; the first `opaqueRows` rows become opaque.
    func snapshot(alpha: PixelBuffer.Alpha, opaqueRows: Int = 0) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: alpha) { target, _ in
            target.copyMemory(from: UnsafeRawBufferPointer(memory.bytes))
            eidetic_pixels_make_opaque(target.bytePointer, opaqueRows * size.width)
        }
    }
}
