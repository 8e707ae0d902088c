public import EideticCore

/// What a picture says about itself before any pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The format, recognised by content.
    public let format: ImageFormat
    /// Width and height as stored, before turning.
    ///
    /// For an animation that of the canvas.
    public let size: PixelSize
    /// How the stored pixels are to be turned; `up` for formats that turn by themselves.
    public let orientation: ImageOrientation
    /// Whether some pixel may be transparent.
    public let hasAlpha: Bool
    /// The number of frames in the bytes at hand; 1 for a still picture.
    public let frameCount: Int
    /// How often the frames play; `nil` for ever, 1 for a still picture.
    public let loopCount: Int?
    /// How long each frame is shown, as stored; empty for a still picture.
    public let durations: [Duration]

    /// Creates a header.
    package init(
        format: ImageFormat,
        size: PixelSize,
        orientation: ImageOrientation = .up,
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

    /// Width and height as seen, after ``orientation`` is applied.
    public var uprightSize: PixelSize { orientation.swapsDimensions ? size.transposed : size }
}
