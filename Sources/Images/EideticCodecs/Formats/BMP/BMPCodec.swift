import CBitmap
import EideticCore

/// Windows and OS/2 bitmaps (BMP).
enum BMPCodec: ImageCodec {
    static var formats: [ImageFormat] { [.bmp] }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        guard let header = try BMPHeader.parseFile(input.bytes) else {
            guard !input.isComplete else {
                throw EideticError(.truncated, message: "BMP: the file ends within its header")
            }
            return nil
        }
        return ImageHeader(format: .bmp, size: header.size, hasAlpha: header.hasAlpha)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let header = try BMPHeader.parseFile(bytes) else {
            throw EideticError(.truncated, message: "BMP: the file ends within its header")
        }
        var decoder = BMPDecoder(header: header, bytes: bytes, task: task)
        let pixels = try decoder.decode(alpha: header.hasAlpha ? .straight : .opaque) { canvas in
            // Many encoders declare an alpha channel and leave it at 0; such an image is meant to be opaque.
            if header.hasAlpha && canvas.isTransparent { canvas.makeOpaque() }
        }
        return DecodedPixels(pixels, colourSpace: decoder.colourSpace, isPartial: decoder.isPartial)
    }
}
