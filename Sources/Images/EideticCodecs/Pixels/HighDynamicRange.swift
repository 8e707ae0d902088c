import Glibc

/// Colours in a high dynamic range: their primaries, their transfer characteristics, and their brightest light.
///
/// - SeeAlso: ITU-R BT.2100-2.
struct HighDynamicRange: Equatable {
    /// The function from stored values to light.
    enum Encoding: Equatable {
        case perceptualQuantizer, hybridLogGamma

        /// The encoding of a code point in table 3 of ITU-T H.273; `nil` for those of standard range.
        init?(codePoint: Int) {
            switch codePoint {
            case 16: self = .perceptualQuantizer
            case 18: self = .hybridLogGamma
            default: return nil
            }
        }
    }

    let primaries: Chromaticities
    let encoding: Encoding
    /// The luminance that becomes white, in candela per square metre: 1,000, unless the file states one.
    let peak: Double

    /// The luminance of reference white in candela per square metre (ITU-R BT.2408-7, 2.2).
    static let referenceWhite = 203.0
    /// The luminance at which HLG is displayed, and the peak where the file states none.
    static let usualPeak = 1_000.0

    /// `peak` is ignored where light cannot have it.
    init(primaries: Chromaticities, encoding: Encoding, peak: Double? = nil) {
        self.primaries = primaries
        self.encoding = encoding
        self.peak = peak.flatMap { $0 > 0 && $0 <= 10_000 ? $0 : nil } ?? Self.usualPeak
    }

    /// Returns the light of a stored value from 0 to 1: in PQ that of the display in multiples of reference white, in
    /// HLG that of the scene from 0 to 1.
    func light(of value: Double) -> Double {
        switch encoding {
        case .perceptualQuantizer:
            let root = pow(value, 1 / 78.84375)
            let share = pow(max(0, root - 0.8359375) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
            return share * 10_000 / Self.referenceWhite
        case .hybridLogGamma:
            return value <= 0.5 ? value * value / 3 : (exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
        }
    }
}

/// The curve from a high dynamic range to white, as in Chromium: the operator of SMPTE ST 2094-50 that keeps reference
/// white.
///
/// Light below reference white is darkened by one factor, the more, the brighter the image may be: by a half
/// from 1,000 cd/m² on. What is brighter is bent to white, by a parabola whose tangent at reference white is that
/// factor.
struct ToneCurve {
    /// The factor up to reference white.
    private let factor: Double
    /// The light that becomes white, in multiples of reference white; at least 1.
    let peak: Double

    private static let bend = 0.65

    init(peak luminance: Double) {
        peak = max(1, luminance / HighDynamicRange.referenceWhite)
        let headroom = log2(peak) / log2(HighDynamicRange.usualPeak / HighDynamicRange.referenceWhite)
        factor = 1 - 0.5 * min(headroom, 1)
    }

    /// Returns the factors at `count` + 1 lights in equal steps from reference white to the peak.
    func gains(count: Int) -> [Float] {
        (0...count).map { step in
            let light = 1 + (peak - 1) * Double(step) / Double(count)
            return Float(value(at: light) / light)
        }
    }

    /// The value of a light from 1 to ``peak``, on the Bézier curve from (1, factor) to (peak, 1).
    private func value(at light: Double) -> Double {
        let middle = (x: 1 - Self.bend + Self.bend / factor, y: (1 - Self.bend) * factor + Self.bend)
        // x(t) = 1 + 2 (m - 1) t + (1 - 2 m + p) t², solved for t without a difference of nearly equal numbers.
        let a = 1 - 2 * middle.x + peak
        let b = 2 * (middle.x - 1)
        let c = light - 1
        let divisor = b + (b * b + 4 * a * c).squareRoot()
        let t = divisor > 0 ? min(1, 2 * c / divisor) : 0
        return (1 - t) * (1 - t) * factor + 2 * t * (1 - t) * middle.y + t * t
    }
}
