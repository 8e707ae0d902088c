#if JPEGXL
import CCodec
import CJXL
import EideticCore

/// JPEG XL images and animations, by libjxl.
///
/// The orientation belongs to the format, and the library applies it.
enum JPEGXLCodec: ImageCodec {
    static var formats: [ImageFormat] { [.jpegxl] }

    static func prepare() { eidetic_jxl_prepare() }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        let file = try JPEGXLFile(input.bytes, isComplete: input.isComplete, decodesPixels: false)
        return try file?.header()
    }

    /// Returns whether the first bytes are those of an animation; `nil` if more bytes are needed.
    static func isAnimation(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        do throws(EideticError) {
            return try JPEGXLFile(bytes, isComplete: false, decodesPixels: false)?.isAnimated
        } catch { return false }
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let file = try JPEGXLFile(bytes, isComplete: true, decodesPixels: true) else {
            throw EideticError(.truncated, message: "jpegxl: the file ends within its header")
        }
        return try file.decode(for: task)
    }

    /// The frames at the target size, one frame at full size, with 16 bits per channel too, and the library's
    /// floating-point planes.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: 11)
    }
}
#endif
