public import EideticCore

/// The properties of an image that are known before its pixels are decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The format, detected from the content.
    public let format: ImageFormat
    /// The width and height in pixels as stored, before the orientation is applied.
    ///
    /// For an animation, the size of its canvas.
    public let size: PixelSize
    /// The orientation of the stored pixels; `up` for formats whose decoder applies it.
    package let orientation: ImageOrientation
    /// A Boolean value indicating whether a pixel can be transparent.
    public let hasAlpha: Bool
    /// The number of frames in the bytes that were parsed; 1 for a still image.
    public let frameCount: Int
    /// The number of times the frames play; `nil` means forever, and a still image has 1.
    public let loopCount: Int?
    /// The duration of each frame as stored; empty for a still image.
    public let durations: [Duration]

    /// Creates a header; by default that of an opaque still image.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - size: The width and height in pixels as stored.
    ///   - exifOrientation: The number in the EXIF tag of orientation, 1 to 8; others mean 1, upright.
    ///   - hasAlpha: A Boolean value indicating whether pixels can be transparent.
    ///   - frameCount: The number of frames.
    ///   - loopCount: The number of times that an animation is shown; `nil` for ever.
    ///   - durations: The durations of the frames of an animation.
    public init(
        format: ImageFormat,
        size: PixelSize,
        exifOrientation: Int = 1,
        hasAlpha: Bool = false,
        frameCount: Int = 1,
        loopCount: Int? = 1,
        durations: [Duration] = []
    ) {
        self.init(
            format: format,
            size: size,
            orientation: ImageOrientation(exif: exifOrientation),
            hasAlpha: hasAlpha,
            frameCount: frameCount,
            loopCount: loopCount,
            durations: durations
        )
    }

    package init(
        format: ImageFormat,
        size: PixelSize,
        orientation: ImageOrientation,
        hasAlpha: Bool = false,
        frameCount: Int = 1,
        loopCount: Int? = 1,
        durations: [Duration] = []
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.hasAlpha = hasAlpha
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.durations = durations
    }

    /// The width and height in pixels after the orientation is applied.
    public var uprightSize: PixelSize { orientation.swapsDimensions ? size.transposed : size }
}
