package import EideticCore

extension ImageTransforms {
    /// Scales the image to a size; where it is the first transform, the image is decoded to that size.
    package struct Resize: SizedTransform {
        /// The size, and the way in which the image is fitted to it.
        package let target: ImageTarget
        /// A Boolean value indicating whether a small image is enlarged.
        package let upscales: Bool

        /// Creates the transform.
        ///
        /// - Parameters:
        ///   - size: The size in pixels.
        ///   - contentMode: The way in which the image is fitted to the size; `fit` by default.
        ///   - upscales: A Boolean value indicating whether a small image is enlarged; false by default.
        package init(_ size: PixelSize, contentMode: ContentMode = .fit, upscales: Bool = false) {
            target = ImageTarget(size: size, contentMode: contentMode)
            self.upscales = upscales
        }

        /// Creates the transform for a width, a height, or both; a side that is not given is not limited.
        package init(width: Int?, height: Int?, upscales: Bool = false) {
            let size = PixelSize(width: width ?? PixelSize.unlimitedSide, height: height ?? PixelSize.unlimitedSide)
            self.init(size, upscales: upscales)
        }

        package var key: String { "resize \(target.key)\(upscales ? " upscales" : "")" }

        package var decodeTarget: ImageTarget? { target }

        /// Scales the image.
        ///
        /// - Throws: `invalidArgument` if the size is not positive, `limitExceeded` if the result were larger than the
        ///   largest image that is decoded, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            guard target.size.isPositive else {
                throw EideticError(
                    .invalidArgument,
                    message: "cannot resize to \(target.size): the size is not positive"
                )
            }
            let size = pixels.size.scaledBeforeCrop(to: target.size, mode: target.contentMode, upscales: upscales)
            guard size.pixelCount <= max(pixels.size.pixelCount, DecodeLimits.standard.pixels) else {
                throw EideticError(.limitExceeded, message: "cannot resize \(pixels.size) to \(size): too many pixels")
            }
            return try Resampler.resample(pixels, to: size).cropped(for: target.decodeOptions)
        }
    }
}

extension ImageTarget {
    package var key: String { "\(size) \(contentMode.key)\(focusKey)" }

    private var focusKey: String {
        guard let focus = contentMode.focus else { return "" }
        guard case .point(let x, let y) = focus else { return " content" }
        // One crop has one key; a coordinate that is no number counts as the middle.
        let point = [x, y].map { $0.isNaN ? 0.5 : min(max($0, 0), 1) }
        return point == [0.5, 0.5] ? "" : " \(point[0]),\(point[1])"
    }

    var decodeOptions: DecodeOptions { DecodeOptions().with { $0.target = self } }
}

extension DecodeOptions {
    /// The size and the content mode; `nil` without a size.
    package var target: ImageTarget? {
        get { size.map { ImageTarget(size: $0, contentMode: contentMode) } }
        set {
            size = newValue?.size
            if let newValue { contentMode = newValue.contentMode }
        }
    }
}
