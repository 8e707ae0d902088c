import CPixels
import Glibc

/// The meaning of an image's colour values; without one, they are sRGB.
///
/// Each codec states it, and ``ColourConverter`` converts from it.
enum ColourSpace: Equatable {
    case profile([UInt8])
    /// Primaries and the function from stored values to light.
    case primaries(Chromaticities, TransferFunction)
    case highDynamicRange(HighDynamicRange)

    /// Creates the colour space that code points stand for.
    ///
    /// A code point that is unspecified, reserved or unknown means that of sRGB. The result is `nil` if the code points
    /// are those of sRGB.
    ///
    /// - Parameters:
    ///   - primaries: The number of the colour primaries.
    ///   - transfer: The number of the transfer characteristics.
    ///   - video: The function meant by the code points of BT.709, BT.601 and BT.2020, which state that of a camera.
    ///   - peak: The luminance of the brightest light in candela per square metre, if the file states one.
    /// - SeeAlso: ITU-T H.273, sections 8.1 and 8.2.
    init?(primaries: Int, transfer: Int, video: TransferFunction = .sRGB, peak: Double? = nil) {
        let primaries = Chromaticities(codePoint: primaries) ?? .sRGB
        if let encoding = HighDynamicRange.Encoding(codePoint: transfer) {
            self = .highDynamicRange(HighDynamicRange(primaries: primaries, encoding: encoding, peak: peak))
            return
        }
        let transfer = TransferFunction(codePoint: transfer, video: video) ?? .sRGB
        guard primaries != .sRGB || transfer != .sRGB else { return nil }
        self = .primaries(primaries, transfer)
    }
}

/// The known code points of primaries and transfer of an image in full range, without a matrix.
struct CodePoints {
    private let primaries: Int
    private let transfer: Int

    /// Reads four bytes; `nil` if one has another meaning or is unknown.
    init?(_ content: UnsafeRawBufferPointer) {
        guard content.count == 4, content[2] == 0, content[3] == 1 else { return nil }
        primaries = Int(content[0])
        transfer = Int(content[1])
        guard Chromaticities(codePoint: primaries) != nil,
            HighDynamicRange.Encoding(codePoint: transfer) != nil || TransferFunction(codePoint: transfer) != nil
        else { return nil }
    }

    /// Returns the meaning of the colours; `nil` means sRGB.
    ///
    /// As in browsers, the code points of video mean its display (BT.1886).
    func colourSpace(peak: Double? = nil) -> ColourSpace? {
        ColourSpace(primaries: primaries, transfer: transfer, video: TransferFunction(exponent: 2.4), peak: peak)
    }
}

/// The chromaticities (CIE 1931 x, y) of the primaries and of white.
struct Chromaticities: Equatable {
    var red: SIMD2<Double>
    var green: SIMD2<Double>
    var blue: SIMD2<Double>
    var white = SIMD2(0.3127, 0.329)

    /// BT.709 and sRGB.
    static let sRGB = Chromaticities(red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06])

    /// Creates the primaries of a code point in table 2 of ITU-T H.273; `nil` if it has none.
    init?(codePoint: Int) {
        let illuminantC = SIMD2(0.31, 0.316)
        switch codePoint {
        case 1: self = .sRGB
        case 4: self.init(red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: illuminantC)
        case 5: self.init(red: [0.64, 0.33], green: [0.29, 0.6], blue: [0.15, 0.06])
        case 6, 7: self.init(red: [0.63, 0.34], green: [0.31, 0.595], blue: [0.155, 0.07])
        case 8: self.init(red: [0.681, 0.319], green: [0.243, 0.692], blue: [0.145, 0.049], white: illuminantC)
        case 9: self.init(red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046])
        case 10: self.init(red: [1, 0], green: [0, 1], blue: [0, 0], white: [1 / 3, 1 / 3])
        case 11: self.init(red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: [0.314, 0.351])
        case 12: self.init(red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06])
        case 22: self.init(red: [0.63, 0.34], green: [0.295, 0.605], blue: [0.155, 0.077])
        default: return nil
        }
    }

    init(red: SIMD2<Double>, green: SIMD2<Double>, blue: SIMD2<Double>, white: SIMD2<Double> = [0.3127, 0.329]) {
        self.red = red
        self.green = green
        self.blue = blue
        self.white = white
    }
}

/// The function from stored values to light, both from 0 to 1.
///
/// It is linear below a limit, `slope * value`; from there on, `(scale * value + offset) ^ exponent`.
struct TransferFunction: Equatable {
    var exponent: Double
    var scale = 1.0
    var offset = 0.0
    var slope = 0.0
    var limit = 0.0

    /// IEC 61966-2-1.
    static let sRGB = TransferFunction(
        exponent: 2.4,
        scale: 1 / 1.055,
        offset: 0.055 / 1.055,
        slope: 1 / 12.92,
        limit: 0.04045
    )

    init(exponent: Double, scale: Double = 1, offset: Double = 0, slope: Double = 0, limit: Double = 0) {
        self.exponent = exponent
        self.scale = scale
        self.offset = offset
        self.slope = slope
        self.limit = limit
    }

    /// Returns the light of a stored value.
    func light(of value: Double) -> Double {
        value < limit ? slope * value : pow(scale * value + offset, exponent)
    }

    /// The level, of 255, of each light from 0 to 1 in equal steps in sRGB.
    static let sRGBLevels = (0...Int(EIDETIC_LIGHT_STEPS)).map { step in
        let light = Double(step) / Double(EIDETIC_LIGHT_STEPS)
        let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8(255 * value + 0.5)
    }

    /// Returns the change of light for a change of the stored value.
    func slope(at value: Double) -> Double {
        value < limit ? slope : exponent * scale * pow(scale * value + offset, exponent - 1)
    }

    /// Creates the function of a code point in table 3 of ITU-T H.273; `nil` if it has none.
    ///
    /// `video` is that of the code points for video, which state the function of a camera.
    init?(codePoint: Int, video: TransferFunction = .sRGB) {
        switch codePoint {
        case 1, 6, 11, 14, 15: self = video
        case 4: self.init(exponent: 2.2)
        case 5: self.init(exponent: 2.8)
        case 7:
            self.init(exponent: 1 / 0.45, scale: 1 / 1.1115, offset: 0.1115 / 1.1115, slope: 0.25, limit: 0.0912)
        case 8: self.init(exponent: 1)
        case 13: self = .sRGB
        case 17: self.init(exponent: 2.6, scale: pow(52.37 / 48, 1 / 2.6))
        default: return nil
        }
    }
}
