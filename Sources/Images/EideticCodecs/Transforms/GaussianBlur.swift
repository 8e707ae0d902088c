import CPixels
package import EideticCore

extension ImageTransforms {
    /// Blurs the image by a good approximation of a Gaussian filter; pixels at an edge count as if they went on.
    package struct GaussianBlur: ImageTransform {
        /// The standard deviation of the filter, in pixels.
        package let radius: Double

        /// Creates the transform; 8 pixels by default.
        package init(radius: Double = 8) { self.radius = radius }

        package var key: String { "blur \(radius)" }

        /// Blurs the image.
        ///
        /// - Throws: `invalidArgument` if the radius is negative or not a number, `outOfMemory`.
        /// - Complexity: O(*n*) in the pixels, whatever the radius.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            try pixels.blurred(radius: radius)
        }
    }

    /// Sharpens the image: adds a part of its difference to a blurred copy (unsharp mask).
    package struct Sharpening: ImageTransform {
        /// The part of the difference that is added, from 0 to 16.
        package let amount: Double
        /// The radius of the blur, in pixels.
        package let radius: Double

        /// Creates the transform; by default the whole difference to a blur of one pixel is added.
        package init(amount: Double = 1, radius: Double = 1) { (self.amount, self.radius) = (amount, radius) }

        package var key: String { "sharpening \(amount) \(radius)" }

        /// Sharpens the image.
        ///
        /// - Throws: `invalidArgument` if the amount or the radius is out of range, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            guard (0...16).contains(amount) else {
                throw EideticError(.invalidArgument, message: "the amount is \(amount); it must be between 0 and 16")
            }
            let pixels = try pixels.premultiplied()
            let blurred = try pixels.blurred(radius: radius)
            return try pixels.modified { target in
                blurred.withKernelSource { eidetic_pixels_sharpen(target, $0, UInt32((amount * 256).rounded())) }
            }
        }
    }
}

extension PixelBuffer {
    fileprivate func blurred(radius: Double) throws(EideticError) -> PixelBuffer {
        guard radius >= 0 else {
            throw EideticError(.invalidArgument, message: "the radius of a blur is \(radius); it must not be negative")
        }
        guard radius > 0 else { return try premultiplied() }
        let box = eidetic_box(standardDeviation: min(radius, Double(max(size.width, size.height))))
        let scratch = try ScratchBuffer(byteCount: max(32 * size.width, 128 * size.height))
        let memory = scratch.bytes.baseAddress
        return try modified { target in
            eidetic_pixels_blur_rows(target, size.width, size.height, box, memory)
            eidetic_pixels_blur_columns(target, size.width, size.height, box, memory)
        }
    }
}

extension eidetic_box {
    /// Creates a box three passes of which have this standard deviation.
    ///
    /// A box of *2r* + 1 whole pixels and two ends of weight *a* has the variance
    /// (*r*(*r* + 1)(2*r* + 1) / 3 + 2*a*(*r* + 1)²) / (2*r* + 1 + 2*a*), of which a third is needed.
    fileprivate init(standardDeviation: Double) {
        let variance = standardDeviation * standardDeviation / 3
        let whole = max(0, (((12 * variance + 1).squareRoot() - 1) / 2).rounded(.down))
        let length = 2 * whole + 1
        let end = length * (variance - whole * (whole + 1) / 3) / (2 * ((whole + 1) * (whole + 1) - variance))
        let weight = UInt32(16_777_216 / (length + 2 * max(0, end)))
        self.init(radius: Int(whole), whole: weight, part: (16_777_216 - weight * UInt32(length)) / 2)
    }
}
