public import EideticCore

/// Options for encoding an image.
public struct EncodeOptions: Sendable, Hashable {
    /// The quality of a lossy format, from 0 to 1.
    ///
    /// WebP and AVIF at 1 are lossless; PNG and GIF ignore the quality. 0.85 by default.
    public var quality = 0.85

    /// The largest size in pixels; a larger image is scaled down in its proportions.
    ///
    /// `nil` by default: no limit.
    public var maximumSize: PixelSize?

    /// The largest number of encoded bytes.
    ///
    /// An image that is larger at ``quality`` is encoded again: in a lossy format with less quality, in PNG and GIF
    /// with fewer pixels, four times in all. PNG and nearly all JPEG files of photographs then have at least 98 % of
    /// the limit, most WebP and GIF files, too, and the others 93 %; AVIF and HEIC have coarser steps. `nil` by
    /// default: no limit.
    public var maximumByteCount: ByteCount?

    /// The colour below transparent parts in a format without alpha, which is JPEG; its own alpha is ignored.
    ///
    /// White by default.
    public var background = ImageColor.white

    /// A Boolean value indicating whether a JPEG has several scans, so that it is shown coarsely before it is complete.
    ///
    /// False by default.
    public var isProgressive = false

    /// The largest number of colours of a PNG or GIF, from 2 to 256; more are reduced, with dithering.
    ///
    /// A PNG then has a palette, and often a third of its size. Reduction needs libimagequant (Debian's package
    /// libimagequant0), which is loaded when the first image needs it. An animation has as many colours in each frame.
    /// Other formats ignore it. `nil` by default: a PNG keeps all colours, and a GIF gets at most 255 a frame.
    public var maximumColorCount: Int?

    /// The metadata to write, such as those of the file that the image was decoded from.
    ///
    /// GIF has no metadata. `nil` by default: the file has none.
    public var metadata: ImageMetadata?

    /// Creates the default options.
    public init() {}
}
