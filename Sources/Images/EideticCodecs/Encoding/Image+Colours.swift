import CCodec
import CImageQuant
import EideticCore

extension Image {
    /// Returns the image with at most `count` colours in each frame, 2 to 256; itself for `nil`.
    ///
    /// - Throws: `unsupportedFormat` without libimagequant, and `outOfMemory`.
    func reduced(toColours count: Int?, for format: ImageFormat) throws(EideticError) -> Image {
        guard let count else { return self }
        var reduced: [Frame] = []
        for frame in frames {
            let pixels = try frame.pixels.reduced(toColours: count, for: format)
            reduced.append(Frame(pixels: pixels, duration: frame.duration))
        }
        return replacingFrames(reduced)
    }
}

extension PixelBuffer {
    fileprivate func reduced(toColours count: Int, for format: ImageFormat) throws(EideticError) -> PixelBuffer {
        let pixels = try unpremultiplied()
        var outcome = eidetic_codec_outcome()
        let reduced = try PixelBuffer(size: size, alpha: pixels.alpha) { target, _ in
            pixels.withUnsafeBytes { source in
                _ = eidetic_quantise(
                    source.bytePointer,
                    pixels.bytesPerRow,
                    UInt32(size.width),
                    UInt32(size.height),
                    pixels.alpha == .opaque,
                    Int32(count),
                    target.bytePointer,
                    &outcome
                )
            }
        }
        if outcome.status == EIDETIC_CODEC_UNSUPPORTED {
            let remedy = "install the package libimagequant0"
            throw EideticError(.unsupportedFormat, message: "colours are reduced by libimagequant: \(remedy)")
        }
        try outcome.checkEncoding(format: format)
        return reduced
    }
}
