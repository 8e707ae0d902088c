import CBitmap
import EideticCore

/// Windows and OS/2 bitmaps.
enum BitmapCodec: ImageCodec {
    static var formats: [ImageFormat] { [.bmp] }

    static func header(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        guard let header = try BitmapHeader.file(bytes) else {
            guard !isComplete else { throw EideticError(.truncated, "the bitmap ends within its header") }
            return nil
        }
        return ImageHeader(format: .bmp, size: header.size, hasAlpha: header.hasAlpha)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        guard let header = try BitmapHeader.file(bytes) else {
            throw EideticError(.truncated, "the bitmap ends within its header")
        }
        var reader = BitmapReader(header: header, bytes: bytes, task: task)
        let pixels = try reader.read(alpha: header.hasAlpha ? .straight : .opaque) { canvas in
            // Many writers announce alpha and leave it at 0; nobody wants to see nothing.
            if header.hasAlpha && canvas.isClear { canvas.makeOpaque() }
        }
        return CodecPicture(pixels, isPartial: reader.isPartial)
    }
}
