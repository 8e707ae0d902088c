package import EideticCore

/// Options for decoding an image.
package struct DecodeOptions: Sendable, Hashable {
    /// A selection of the frames of an animation.
    package enum Frames: String, Sendable, Hashable {
        /// The first frame, or the default image if the format stores one.
        case first
        case all
    }

    /// The target size of the upright image in pixels; images are never enlarged.
    ///
    /// SVG is the exception: it is rendered at any size without loss of sharpness. `nil` by default: full size.
    package var size: PixelSize?

    /// The mode in which the image is scaled to ``size``.
    ///
    /// `fit` by default.
    package var contentMode = ContentMode.fit

    /// A Boolean value indicating whether the image is rotated and mirrored according to its EXIF orientation.
    ///
    /// True by default.
    package var appliesOrientation = true

    /// A Boolean value indicating whether an embedded colour profile is converted to sRGB.
    ///
    /// True by default; if false, the stored values are returned, and CMYK becomes RGB by multiplication.
    package var convertsToSRGB = true

    /// A Boolean value indicating whether colours are premultiplied by alpha, as toolkits draw them fastest.
    ///
    /// True by default; if false, colours are returned as stored, as a lossless encoder needs them.
    package var premultipliesAlpha = true

    /// The frames of an animation to decode.
    ///
    /// `first` by default.
    package var frames = Frames.first

    /// The maximum memory of all decoded frames together; a larger image is scaled down.
    ///
    /// `nil` by default: no scaling.
    package var byteLimit: ByteCount?

    /// A Boolean value indicating whether a truncated image is decoded as far as possible and marked as partial.
    ///
    /// JPEG, PNG, GIF, WebP, BMP, ICO and TIFF return the rows that are present, at lower detail if the image is
    /// progressive, and leave the others transparent or empty; JPEG XL returns a coarse image; AVIF sequences return
    /// the complete frames. HEIC, SVG and still AVIF fail, because their libraries return nothing.
    ///
    /// False by default: a truncated image is a `truncated` error.
    package var acceptsPartial = false

    /// The number of pixels per point that the decoded image is marked with; it changes no pixel.
    ///
    /// 1 by default.
    package var scale = 1.0

    package init() {}

    package init(size: PixelSize) { self.size = size }

    /// Returns a copy modified by `change`.
    func with(_ change: (inout DecodeOptions) -> Void) -> DecodeOptions {
        var options = self
        change(&options)
        return options
    }
}
