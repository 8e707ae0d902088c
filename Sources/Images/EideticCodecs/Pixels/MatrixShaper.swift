import CPixels

/// Colours that a curve for each channel and a matrix describe.
struct MatrixColours {
    /// The functions of red, green and blue from stored values to light, both from 0 to 1.
    let curves: [(Double) -> Double]
    /// Linear red, green and blue to those of sRGB.
    let matrix: ColourMatrix
    /// A Boolean value indicating whether all channels are one of grey.
    var isGrey = false

    /// A Boolean value indicating whether the primaries and curves are those of sRGB, so that a conversion would change
    /// no channel by more than about one level.
    var isSRGB: Bool { matrix.isNearIdentity && curves.allSatisfy(Self.isSRGB) }

    private static func isSRGB(_ curve: (Double) -> Double) -> Bool {
        (0...32).allSatisfy { step in
            let value = Double(step) / 32
            // What a level of the values, of which there are 255, makes of the light.
            let tolerance = TransferFunction.sRGB.slope(at: value) / 255
            return abs(curve(value) - TransferFunction.sRGB.light(of: value)) <= tolerance
        }
    }
}

/// A conversion to sRGB by tables, in which each channel is clipped alone.
///
/// Each channel of 8 bits differs from that of LittleCMS by one level at most, if light is from 0 to 1 or not far
/// beyond; dark grey by 10 levels, where LittleCMS interpolates between few points. From 16 bits it does so with
/// colours too, and is up to 30 levels off.
struct MatrixShaper {
    /// The light that the stored values of red add to red, green, blue and nothing; then those of green and of blue.
    private let light: [Int32]
    /// A Boolean value indicating whether the colours are shades of grey.
    let isGrey: Bool
    private let isDeep: Bool

    /// Creates a conversion of 8 bits per channel, or of 16; `nil` for the colours of sRGB.
    init?(_ colours: MatrixColours, isDeep: Bool) {
        guard !colours.isSRGB else { return nil }
        let count = isDeep ? EIDETIC_SHAPER_DEEP_COUNT : EIDETIC_SHAPER_COUNT
        let step = isDeep ? 16.0 / 65_535 : 1.0 / 255
        light = zip(colours.curves, colours.matrix.columns).flatMap { curve, column in
            (0..<count).flatMap { index in
                // Limited before the matrix, so that grey of any light remains grey.
                let light = min(max(curve(min(1, Double(index) * step)), -8), 8) * column
                return [Self.fixed(light.x), Self.fixed(light.y), Self.fixed(light.z), 0]
            }
        }
        isGrey = colours.isGrey
        self.isDeep = isDeep
    }

    /// Returns light in units of the kernel, limited so that sums do not overflow.
    private static func fixed(_ light: Double) -> Int32 {
        light.isNaN ? 0 : Int32(Double(EIDETIC_SHAPER_WHITE) * min(max(light, -64), 64))
    }

    /// Converts rows of as many bits per channel as the conversion was created for.
    func convert(_ source: eidetic_pixels_source, to target: eidetic_pixels_target) {
        light.withUnsafeBufferPointer { light in
            TransferFunction.sRGBLevels.withUnsafeBufferPointer { levels in
                var shaper = eidetic_shaper(light: light.baseAddress, levels: levels.baseAddress)
                eidetic_shaper_convert(source, &shaper, isDeep ? 1 : 0, target)
            }
        }
    }
}
