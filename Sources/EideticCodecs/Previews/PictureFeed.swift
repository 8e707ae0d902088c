import CPixels
import EideticCore

/// Decodes a picture whose bytes come little by little, and takes each of them once (L10).
///
/// After an error there is no way on.
protocol PreviewFeed: AnyObject {
    /// Takes what is new in `bytes`, which begin with the picture's first one, and gives what is to be seen of it.
    ///
    /// `nil` where that is nothing yet. Polls `task.checkpoint()` every few milliseconds.
    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels?

    /// How many of the bytes were given to the decoder, counted each time.
    var consumedByteCount: Int { get }
}

/// The rows of a picture that grows; those that are not there yet are transparent.
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

    /// A copy of what is there now; without the alpha of the first rows where that is not to be used.
    func snapshot(alpha: PixelBuffer.Alpha, opaqueRows: Int = 0) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: alpha) { target, _ in
            target.copyMemory(from: UnsafeRawBufferPointer(memory.bytes))
            eidetic_pixels_make_opaque(target.bytePointer, opaqueRows * size.width)
        }
    }
}
