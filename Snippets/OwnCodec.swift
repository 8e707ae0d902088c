import Eidetic
import EideticCodecs

/// Grey squares: "GREY", a byte for the side, and a byte for each pixel.
struct GreyCodec: ImageCodecPlugin {
    let format = ImageFormat(name: "grey", mimeType: "image/x-grey"), signatures = [Array("GREY".utf8)]
    func header(of bytes: Span<UInt8>) -> ImageHeader? {
        bytes.count < 5 ? nil : ImageHeader(format: format, size: .init(width: Int(bytes[4]), height: Int(bytes[4])))
    }
    func decode(_ bytes: Span<UInt8>, for task: ImageCodecTask) throws(EideticError) -> [Image.Frame] {
        let size = task.header.size
        guard bytes.count >= 5 + size.pixelCount else { throw EideticError(.truncated, message: "short") }
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { SIMD4(SIMD3(repeating: bytes[5 + $0]), 255) }
        return [Image.Frame(pixels: pixels)]
    }
}
ImageDecoder.register(GreyCodec())
