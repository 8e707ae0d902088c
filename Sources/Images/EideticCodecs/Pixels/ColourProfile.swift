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

    deinit { cmsCloseProfile(handle) }

    /// Calls `body` with the curves and primaries, which are valid only during the call, unless they are missing, or a
    /// table precedes them.
    func withMatrixColours<Result>(_ body: (MatrixColours) -> Result) -> Result? {
        guard cmsIsTag(handle, cmsSigAToB0Tag) == 0, cmsGetPCS(handle) == cmsSigXYZData else { return nil }
        let handle = handle
        switch cmsGetColorSpace(handle) {
        case cmsSigRgbData:
            let primaries = [cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag].compactMap {
                Self.primary($0, of: handle)
            }
            let curves = [cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag].compactMap {
                Self.curve($0, of: handle)
            }
            guard primaries.count == 3, curves.count == 3, let matrix = ColourMatrix(connecting: primaries) else {
                return nil
            }
            return body(MatrixColours(curves: curves, matrix: matrix))
        case cmsSigGrayData:
            guard let curve = Self.curve(cmsSigGrayTRCTag, of: handle) else { return nil }
            return body(MatrixColours(curves: [curve, curve, curve], matrix: .identity, isGrey: true))
        default: return nil
        }
    }

    /// CIE XYZ, adapted to D50.
    private static func primary(_ tag: cmsTagSignature, of handle: cmsHPROFILE) -> SIMD3<Double>? {
        let point = cmsReadTag(handle, tag)?.assumingMemoryBound(to: cmsCIEXYZ.self).pointee
        return point.map { [$0.X, $0.Y, $0.Z] }
    }

    private static func curve(_ tag: cmsTagSignature, of handle: cmsHPROFILE) -> ((Double) -> Double)? {
        cmsReadTag(handle, tag).map { curve in { Double(cmsEvalToneCurveFloat(OpaquePointer(curve), Float($0))) } }
    }
}
