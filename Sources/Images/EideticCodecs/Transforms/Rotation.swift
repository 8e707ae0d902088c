import CPixels
package import EideticCore

extension ImageTransforms {
    /// Rotates the image clockwise around its centre.
    ///
    /// Quarter turns are exact; other angles are sampled from the four nearest pixels.
    package struct Rotation: ImageTransform {
        /// The angle in degrees.
        package let degrees: Double
        /// A Boolean value indicating whether the image grows to show all corners.
        package let expandsCanvas: Bool
        /// The colour of the pixels that the rotated image does not cover.
        package let background: ImageColor

        /// Creates the transform; by default the image grows, and is transparent where nothing is.
        package init(degrees: Double, expandsCanvas: Bool = true, background: ImageColor = .clear) {
            self.degrees = degrees
            self.expandsCanvas = expandsCanvas
            self.background = background
        }

        package var key: String { "rotation \(degrees)\(expandsCanvas ? "" : " clipped") \(background)" }

        /// Rotates the image.
        ///
        /// - Throws: `invalidArgument` if the angle is not finite, `limitExceeded` if the result were larger than the
        ///   largest image that is decoded, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            guard degrees.isFinite else {
                throw EideticError(.invalidArgument, message: "cannot rotate by \(degrees) degrees")
            }
            let angle = degrees.remainder(dividingBy: 360)
            switch angle {
            case 0: return pixels
            case -180, 180: return try pixels.oriented(.down)
            case 90 where expandsCanvas: return try pixels.oriented(.right)
            case -90 where expandsCanvas: return try pixels.oriented(.left)
            default: return try rotated(try pixels.premultiplied(), by: angle)
            }
        }

        private func rotated(_ pixels: PixelBuffer, by angle: Double) throws(EideticError) -> PixelBuffer {
            let (sine, cosine) = (Trigonometry.sine(degrees: angle), Trigonometry.sine(degrees: angle + 90))
            let size = expandsCanvas ? Self.size(of: pixels.size, sine: abs(sine), cosine: abs(cosine)) : pixels.size
            guard size.pixelCount <= max(pixels.size.pixelCount, DecodeLimits.standard.pixels) else {
                throw EideticError(.limitExceeded, message: "cannot rotate \(pixels.size) to \(size): too many pixels")
            }
            let rotation = Self.rotation(from: pixels.size, to: size, sine: sine, cosine: cosine)
            let isOpaque = pixels.alpha == .opaque && background.alpha == 255
            return try PixelBuffer(size: size, alpha: isOpaque ? .opaque : .premultiplied) { target, stride in
                pixels.withKernelSource { source in
                    let (fill, target) = (background.premultiplied, target.kernelTarget(stride: stride))
                    eidetic_pixels_rotate(source, rotation, fill, size.width, size.height, target)
                }
            }
        }

        private static func size(of size: PixelSize, sine: Double, cosine: Double) -> PixelSize {
            let (width, height) = (Double(size.width), Double(size.height))
            // A length that is whole but for its rounding needs no further pixel.
            func length(_ value: Double) -> Int { max(1, Int((value - 1e-6).rounded(.up))) }
            return PixelSize(
                width: length(width * cosine + height * sine),
                height: length(width * sine + height * cosine)
            )
        }

        private static func rotation(
            from source: PixelSize,
            to target: PixelSize,
            sine: Double,
            cosine: Double
        ) -> eidetic_rotation {
            let x = 0.5 - Double(target.width) / 2
            let y = 0.5 - Double(target.height) / 2
            let sourceX = cosine * x + sine * y + Double(source.width) / 2 - 0.5
            let sourceY = cosine * y - sine * x + Double(source.height) / 2 - 0.5
            func fixed(_ value: Double) -> Int64 { Int64((value * 4_294_967_296).rounded()) }
            return eidetic_rotation(
                x: fixed(sourceX),
                y: fixed(sourceY),
                right_x: fixed(cosine),
                right_y: fixed(-sine)
            )
        }
    }
}

/// Trigonometry with the same bits on every processor, which functions of the C library do not promise.
enum Trigonometry {
    /// Returns the sine of an angle, to about 1e-15.
    static func sine(degrees: Double) -> Double {
        var angle = degrees.remainder(dividingBy: 360)
        // Folded to -90…90, where the series converges fast.
        if abs(angle) > 90 { angle = (angle < 0 ? -180 : 180) - angle }
        let x = angle * (.pi / 180)
        let square = x * x
        var term = x
        var sum = x
        var factor = 2.0
        while factor <= 24 {
            term = -term * square / (factor * (factor + 1))
            sum += term
            factor += 2
        }
        return sum
    }
}
