import CLCMS

/// The owner of one profile of LittleCMS.
struct ColourProfile: ~Copyable {
    let handle: cmsHPROFILE

    /// Opens a profile; `nil` if it is invalid or too large.
    init?(_ profile: [UInt8]) {
        guard let profile = ICCProfile.reduced(profile),
            let handle = profile.withUnsafeBytes({ cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        else { return nil }
        self.handle = handle
    }

    /// Creates a profile; `nil` if the primaries do not span a plane.
    init?(primaries: Chromaticities, transfer: TransferFunction) {
        var parameters = [transfer.exponent, transfer.scale, transfer.offset, transfer.slope, transfer.limit]
        // The fourth of LittleCMS's parametric curves: that of ``TransferFunction``.
        guard let curve = cmsBuildParametricToneCurve(nil, 4, &parameters) else { return nil }
        defer { cmsFreeToneCurve(curve) }
        var white = Self.point(primaries.white)
        var points = cmsCIExyYTRIPLE(
            Red: Self.point(primaries.red),
            Green: Self.point(primaries.green),
            Blue: Self.point(primaries.blue)
        )
        var curves: [OpaquePointer?] = [curve, curve, curve]
        guard let handle = cmsCreateRGBProfile(&white, &points, &curves) else { return nil }
        self.handle = handle
    }

    deinit { cmsCloseProfile(handle) }

    private static func point(_ chromaticity: SIMD2<Double>) -> cmsCIExyY {
        cmsCIExyY(x: chromaticity.x, y: chromaticity.y, Y: 1)
    }

    /// A Boolean value indicating whether the profile has the primaries and curves of sRGB and no look-up table, so
    /// that a conversion would change no channel by more than about one level.
    var isSRGB: Bool {
        guard cmsGetColorSpace(handle) == cmsSigRgbData, cmsIsMatrixShaper(handle) != 0,
            cmsIsTag(handle, cmsSigAToB0Tag) == 0, cmsIsTag(handle, cmsSigAToB1Tag) == 0
        else { return false }
        return hasSRGBPrimaries && hasSRGBCurves
    }

    /// IEC 61966-2-1, adapted to the white of profiles, D50.
    private var hasSRGBPrimaries: Bool {
        let expected: [(cmsTagSignature, [Double])] = [
            (cmsSigRedColorantTag, [0.4361, 0.2225, 0.0139]), (cmsSigGreenColorantTag, [0.3851, 0.7169, 0.0971]),
            (cmsSigBlueColorantTag, [0.1431, 0.0606, 0.7141]),
        ]
        return expected.allSatisfy { tag, expected in
            guard let found = cmsReadTag(handle, tag)?.assumingMemoryBound(to: cmsCIEXYZ.self).pointee else {
                return false
            }
            return zip([found.X, found.Y, found.Z], expected).allSatisfy { abs($0 - $1) < 0.002 }
        }
    }

    private var hasSRGBCurves: Bool {
        [cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag].allSatisfy { tag in
            guard let curve = cmsReadTag(handle, tag).map(OpaquePointer.init) else { return false }
            return (0...32).allSatisfy { step in
                let value = Double(step) / 32
                let light = Double(cmsEvalToneCurveFloat(curve, Float(value)))
                // What a level of the values, of which there are 255, makes of the light.
                let tolerance = TransferFunction.sRGB.slope(at: value) / 255
                return abs(light - TransferFunction.sRGB.light(of: value)) <= tolerance
            }
        }
    }
}
