import EideticCore

/// The last steps of every frame: scale down, convert colours, apply the orientation, crop.
///
/// The first frame decides what a crop by content keeps of all frames.
struct FrameFinisher {
    let targetSize: PixelSize
    let orientation: ImageOrientation
    let colorModel: DecodedPixels.ColorModel
    private let converter: ColourConverter?
    private var options: DecodeOptions

    init(
        targetSize: PixelSize,
        orientation: ImageOrientation,
        options: DecodeOptions,
        colourSpace: ColourSpace?,
        colorModel: DecodedPixels.ColorModel = .rgb
    ) {
        self.targetSize = targetSize
        self.orientation = orientation
        self.options = options
        self.colorModel = colorModel
        converter =
            options.convertsToSRGB
            ? colourSpace.flatMap { ColourConverter(from: $0, colorModel: colorModel) } : nil
    }

    /// A Boolean value indicating whether the result is the same if the pixels are premultiplied before they are
    /// finished at full size.
    var acceptsPremultiplied: Bool {
        let isCut = options.size != nil && options.contentMode.changesProportions
        return converter == nil && colorModel == .rgb && options.premultipliesAlpha && !isCut
    }

    mutating func finish(_ stored: PixelBuffer, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        try task.checkpoint()
        var pixels = try Resampler.resample(stored, to: targetSize, for: task)
        if let converter {
            pixels = try converter.convert(try pixels.unpremultiplied(), for: task)
        } else if colorModel == .cmyk {
            pixels = try pixels.convertedFromCMYK()
        }
        if options.appliesOrientation { pixels = try pixels.oriented(orientation) }
        options = try options.fixingFocus(in: pixels)
        pixels = try pixels.cropped(for: options)
        return options.premultipliesAlpha ? try pixels.premultiplied() : try pixels.unpremultiplied()
    }
}
