import EideticCore

/// What a codec decoded.
struct DecodedPixels {
    /// What the four bytes of a pixel are.
    enum ColorModel {
        /// Red, green, blue, alpha.
        case rgb
        /// Cyan, magenta, yellow, black, where 255 is full ink. The buffers' alpha is `opaque`.
        case cmyk
    }

    /// The frames, all of one size.
    ///
    /// At least the wanted size, in stored orientation; the decoder shrinks what is larger.
    var frames: [Image.Frame]
    /// How often they play; `nil` for ever.
    var loopCount: Int? = 1
    /// What the bytes of a pixel are.
    var colorModel = ColorModel.rgb
    /// The embedded colour profile; `nil` means sRGB.
    var iccProfile: [UInt8]?
    /// Whether a part was missing; only when the task accepts that.
    var isPartial = false

    /// A picture of one frame.
    init(_ pixels: PixelBuffer, iccProfile: [UInt8]? = nil, colorModel: ColorModel = .rgb, isPartial: Bool = false) {
        self.init(frames: [Image.Frame(pixels: pixels)], iccProfile: iccProfile)
        self.colorModel = colorModel
        self.isPartial = isPartial
    }

    /// A picture of one or more frames.
    init(frames: [Image.Frame], loopCount: Int? = 1, iccProfile: [UInt8]? = nil) {
        self.frames = frames
        self.loopCount = loopCount
        self.iccProfile = iccProfile
    }
}
