import CPixels
import EideticCore

/// Red, green, blue and alpha of 16 bits each, in the machine's order of bytes and not premultiplied, which become 8
/// bits when their colours are converted.
struct DeepPixels: ~Copyable {
    let size: PixelSize
    let alpha: PixelBuffer.Alpha
    private let memory: ScratchBuffer

    static func byteCount(of size: PixelSize) -> Int { 8 * size.pixelCount }

    /// Allocates the pixels, and fills them by `fill`, with the length of a row in bytes.
    init(
        size: PixelSize,
        alpha: PixelBuffer.Alpha,
        fill: (UnsafeMutableRawBufferPointer, _ stride: Int) throws(EideticError) -> Void
    ) throws(EideticError) {
        let memory = try ScratchBuffer(clearedByteCount: Self.byteCount(of: size))
        try fill(memory.bytes, 8 * size.width)
        self.size = size
        self.alpha = alpha
        self.memory = memory
    }

    var kernelSource: eidetic_pixels_source {
        UnsafeRawBufferPointer(memory.bytes).kernelSource(stride: 8 * size.width, size: size)
    }
}
