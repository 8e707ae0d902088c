import CPixels

/// Maps colours of a high dynamic range to sRGB.
///
/// The largest of red, green and blue in BT.2020 decides by which factor all three are multiplied, so that the hue
/// remains; what is outside of sRGB then is clipped. A peak no higher than reference white clips only.
struct ToneMapper {
    private let light: [Float]
    private let gains: [Float]
    private let toBT2020: [Float]
    private let toSRGB: [Float]
    private let peak: Float
    private let sceneScale: Float

    private static let bt2020 = Chromaticities(red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046])

    /// Creates a mapper; `nil` if the primaries span no colours.
    init?(_ colours: HighDynamicRange) {
        guard let toBT2020 = ColourMatrix(from: colours.primaries, to: Self.bt2020),
            let toSRGB = ColourMatrix(from: Self.bt2020, to: .sRGB)
        else { return nil }
        let curve = ToneCurve(peak: colours.peak)
        light = (0..<4_096).map { Float(colours.light(of: Double($0) / 4_095)) }
        gains = curve.gains(count: Int(EIDETIC_HDR_GAINS))
        self.toBT2020 = toBT2020.elements
        self.toSRGB = toSRGB.elements
        peak = Float(curve.peak)
        let displayed = HighDynamicRange.usualPeak / HighDynamicRange.referenceWhite
        sceneScale = colours.encoding == .hybridLogGamma ? Float(displayed) : 0
    }

    private static func copy(_ matrix: [Float], to target: UnsafeMutableRawBufferPointer) {
        matrix.withUnsafeBytes { target.copyMemory(from: $0) }
    }

    /// Maps rows of 8 bits, or of 16, per channel.
    func map(_ source: eidetic_pixels_source, isDeep: Bool, to target: eidetic_pixels_target) {
        light.withUnsafeBufferPointer { light in
            gains.withUnsafeBufferPointer { gains in
                TransferFunction.sRGBLevels.withUnsafeBufferPointer { encoding in
                    var map = eidetic_hdr()
                    map.light = light.baseAddress
                    map.gains = gains.baseAddress
                    map.encoding = encoding.baseAddress
                    withUnsafeMutableBytes(of: &map.to_bt2020) { Self.copy(toBT2020, to: $0) }
                    withUnsafeMutableBytes(of: &map.to_srgb) { Self.copy(toSRGB, to: $0) }
                    map.peak = peak
                    map.scene_scale = sceneScale
                    eidetic_hdr_map(source, &map, isDeep ? 1 : 0, target)
                }
            }
        }
    }
}
