import Eidetic

/// Grey squares: "GREY", a byte for the side, and a byte for each pixel.
struct GreyCodec: ImageCodecPlugin {
    let format = ImageFormat(name: "grey", mimeType: "image/x-grey")
    let signatures = [Array("GREY".utf8)]

    func header(of bytes: Span<UInt8>) throws(EideticError) -> ImageHeader? {
        guard bytes.count > 4 else { return nil }
        return ImageHeader(format: format, size: PixelSize(width: Int(bytes[4]), height: Int(bytes[4])))
    }

    func decode(_ bytes: Span<UInt8>, for task: ImageCodecTask) throws(EideticError) -> [Image.Frame] {
        let size = task.header.size
        guard bytes.count >= 5 + size.pixelCount else { throw EideticError(.truncated, message: "pixels are missing") }
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { target, _ throws(EideticError) in
            for index in target.indices { target[index] = index % 4 == 3 ? 255 : bytes[5 + index / 4] }
        }
        return [Image.Frame(pixels: pixels)]
    }
}

ImageDecoder.register(GreyCodec())
let image = try await ImagePipeline.shared.image(for: ImageRequest(.bytes(Array("GREY".utf8) + [1, 128])))
print(image.format, image.size)
