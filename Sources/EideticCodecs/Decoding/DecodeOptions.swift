public import EideticCore

/// How a picture is to be decoded.
public struct DecodeOptions: Sendable, Hashable {
    /// Which frames of an animation are decoded.
    public enum Frames: String, Sendable, Hashable {
        /// The first frame, or the still picture that stands for the animation.
        case first
        /// All of them.
        case all
    }

    /// The size wanted of the upright picture, in pixels; it is never enlarged.
    ///
    /// SVG alone is: it is drawn at any size with all its sharpness. `nil` by default: full size.
    public var size: PixelSize?

    /// How the picture is fitted to ``size``.
    ///
    /// `fit` by default.
    public var contentMode = ContentMode.fit

    /// Whether the picture is turned as its EXIF orientation says.
    ///
    /// True by default.
    public var appliesOrientation = true

    /// Whether an embedded colour profile is converted to sRGB.
    ///
    /// True by default; without it the stored numbers are given, and CMYK becomes RGB by multiplication.
    public var convertsToSRGB = true

    /// Whether colours are multiplied by alpha, which is what toolkits draw fastest.
    ///
    /// True by default; without it they are given as stored, as an encoder without loss wants them.
    public var premultipliesAlpha = true

    /// Which frames of an animation are decoded.
    ///
    /// `first` by default.
    public var frames = Frames.first

    /// The most memory that the decoded frames may take together; a larger picture is scaled down (F04).
    ///
    /// `nil` by default: no scaling.
    public var byteLimit: ByteCount?

    /// Whether a picture that ends too early is given as far as it goes, marked as partial.
    ///
    /// JPEG, PNG, GIF, WebP, BMP, icons and TIFF give the rows that are there, progressive ones in less detail, and leave
    /// the others transparent or empty; JPEG XL gives a coarse picture; AVIF sequences give the frames that are whole.
    /// HEIC, SVG and still AVIF give nothing, since their libraries do not.
    ///
    /// False by default: it is a `truncated` error.
    public var acceptsPartial = false

    /// Pixels per point, which the decoded picture is marked with; it changes no pixel.
    ///
    /// 1 by default.
    public var scale = 1.0

    /// Creates the default options.
    public init() {}

    /// The same with some changed.
    func with(_ change: (inout DecodeOptions) -> Void) -> DecodeOptions {
        var options = self
        change(&options)
        return options
    }
}
