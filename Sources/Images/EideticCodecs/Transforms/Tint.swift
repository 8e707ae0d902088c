import CPixels
package import EideticCore

extension ImageTransforms {
    /// Mixes the colours of the image with a colour, whose alpha is the strength; transparent parts stay transparent.
    ///
    /// An opaque colour replaces all colours, as for icons.
    package struct Tint: ImageTransform {
        package let color: ImageColor

        package init(_ color: ImageColor) { self.color = color }

        package var key: String { "tint \(color)" }

        /// Tints the image.
        ///
        /// - Throws: `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            let color = color.premultiplied
            return try pixels.premultiplied().mapped { eidetic_pixels_tint($0, $1, color) }
        }
    }

    /// Removes the colours of the image, which keeps its luma (ITU-R BT.601).
    package struct Grayscale: ImageTransform {
        package init() {}

        package var key: String { "grayscale" }

        /// Removes the colours.
        ///
        /// - Throws: `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            try pixels.premultiplied().mapped(by: eidetic_pixels_desaturate)
        }
    }
}

extension PixelBuffer {
    /// Returns the pixels after a kernel that reads and writes them.
    func mapped(
        by kernel: (eidetic_pixels_source, eidetic_pixels_target) -> Void
    ) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: alpha) { target, stride in
            withKernelSource { kernel($0, target.kernelTarget(stride: stride)) }
        }
    }

    /// Returns premultiplied pixels after a kernel that changes them in place.
    func modified(
        toAlpha alpha: Alpha? = nil,
        by kernel: (eidetic_pixels_target) -> Void
    ) throws(EideticError) -> PixelBuffer {
        let source = try premultiplied()
        return try PixelBuffer(size: size, alpha: alpha ?? source.alpha) { target, stride in
            source.copy(to: target, orientation: .up)
            kernel(target.kernelTarget(stride: stride))
        }
    }
}
