import CPixels
import EideticCore

extension UnsafeRawBufferPointer {
    var bytePointer: UnsafePointer<UInt8>? { assumingMemoryBound(to: UInt8.self).baseAddress }
}

extension UnsafeMutableRawBufferPointer {
    var bytePointer: UnsafeMutablePointer<UInt8>? { assumingMemoryBound(to: UInt8.self).baseAddress }
}

extension PixelBuffer {
    private typealias Kernel = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, Int, Int
    ) -> Void

    /// The same picture with colours multiplied by alpha.
    func premultiplied() throws(EideticError) -> PixelBuffer {
        guard alpha == .straight else { return self }
        return try map(toAlpha: .premultiplied, kernel: eidetic_pixels_premultiply)
    }

    /// The same picture with colours as they were before they were multiplied by alpha.
    func unpremultiplied() throws(EideticError) -> PixelBuffer {
        guard alpha == .premultiplied else { return self }
        return try map(toAlpha: .straight, kernel: eidetic_pixels_unpremultiply)
    }

    /// The same picture without gaps between its rows.
    func packed() throws(EideticError) -> PixelBuffer {
        guard bytesPerRow != 4 * size.width else { return self }
        return try map(toAlpha: alpha) { source, sourceStride, target, targetStride, width, height in
            guard let source, let target else { return }
            for y in 0..<height {
                (target + y * targetStride).update(from: source + y * sourceStride, count: 4 * width)
            }
        }
    }

    /// A picture of inks as light, by multiplication.
    func convertedFromCMYK() throws(EideticError) -> PixelBuffer {
        try map(toAlpha: .opaque, kernel: eidetic_pixels_cmyk_to_rgb)
    }

    /// The picture turned upright.
    func oriented(_ orientation: ImageOrientation) throws(EideticError) -> PixelBuffer {
        guard orientation != .up else { return self }
        let upright = orientation.swapsDimensions ? size.transposed : size
        return try PixelBuffer(size: upright, alpha: alpha) { target, stride in
            withUnsafeBytes { source in
                eidetic_pixels_turn(
                    source.bytePointer,
                    bytesPerRow,
                    size.width,
                    size.height,
                    target.bytePointer,
                    stride,
                    Int32(orientation.rawValue)
                )
            }
        }
    }

    private func map(toAlpha alpha: Alpha, kernel: Kernel) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: alpha) { target, stride in
            withUnsafeBytes { source in
                kernel(source.bytePointer, bytesPerRow, target.bytePointer, stride, size.width, size.height)
            }
        }
    }
}
