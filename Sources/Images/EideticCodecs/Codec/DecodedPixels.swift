import EideticCore

/// The result of a codec: frames as stored, before scaling, orientation and colour conversion.
struct DecodedPixels {
    /// The meaning of a pixel's four bytes.
    enum ColorModel {
        /// Red, green, blue, alpha.
        case rgb
        /// Cyan, magenta, yellow and black, where 255 is full ink; the alpha of the buffers is `opaque`.
        case cmyk
    }

    /// The frames, all of one size.
    ///
    /// At least as large as the target size, in stored orientation; `DecodePlan` scales larger frames down.
    var frames: [Image.Frame]
    /// The number of times the frames play; `nil` means forever.
    var loopCount: Int? = 1
    /// The meaning of a pixel's bytes.
    var colorModel = ColorModel.rgb
    /// The meaning of the colours; `nil` means sRGB.
    var colourSpace: ColourSpace?
    /// A Boolean value indicating whether pixels are missing, which only a task that accepts partial images allows.
    var isPartial = false

    /// Creates the result for a single frame.
    init(
        _ pixels: PixelBuffer,
        colourSpace: ColourSpace? = nil,
        colorModel: ColorModel = .rgb,
        isPartial: Bool = false
    ) {
        self.init(frames: [Image.Frame(pixels: pixels)], colourSpace: colourSpace)
        self.colorModel = colorModel
        self.isPartial = isPartial
    }

    /// Creates the result for one or more frames.
    init(frames: [Image.Frame], loopCount: Int? = 1, colourSpace: ColourSpace? = nil) {
        self.frames = frames
        self.loopCount = loopCount
        self.colourSpace = colourSpace
    }
}
