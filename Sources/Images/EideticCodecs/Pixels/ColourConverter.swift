import CLCMS
import CPixels
import EideticCore

/// Converts pixels from an embedded colour profile to sRGB by LittleCMS.
///
/// Relative colorimetric with black point compensation, as in browsers and viewers.
final class ColourConverter {
    private let transform: cmsHTRANSFORM
    /// The format of the pixels to convert.
    private let format: UInt32

    /// Creates a converter, unless the profile is sRGB, is invalid or too large, or describes other channels than the
    /// pixels have.
    ///
    /// Without a converter, the stored values are used unchanged.
    init?(profile: [UInt8], colorModel: DecodedPixels.ColorModel) {
        guard let profile = ICCProfile.reduced(profile),
            let source = profile.withUnsafeBytes({ cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        else { return nil }
        defer { cmsCloseProfile(source) }
        guard !Self.isSRGB(source), let format = Self.pixelFormat(for: source, colorModel: colorModel),
            let target = cmsCreate_sRGBProfile()
        else { return nil }
        defer { cmsCloseProfile(target) }
        let flags = UInt32(cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_COPY_ALPHA)
        guard
            let transform = cmsCreateTransform(
                source,
                format,
                target,
                eidetic_type_rgba_8,
                UInt32(INTENT_RELATIVE_COLORIMETRIC),
                flags
            )
        else { return nil }
        self.transform = transform
        self.format = format
    }

    deinit { cmsDeleteTransform(transform) }

    /// Returns the pixels in sRGB; `pixels` must not be premultiplied.
    func convert(_ pixels: PixelBuffer, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        precondition(pixels.alpha != .premultiplied)
        // A profile of grey does not describe an image in colours.
        if format == eidetic_type_gray_rgba_8, !pixels.isGrey { return pixels }
        let size = pixels.size
        return try PixelBuffer(size: size, alpha: pixels.alpha) { target, stride throws(EideticError) in
            try pixels.withUnsafeBytes { source throws(EideticError) in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                for y in 0..<size.height {
                    if y % 32 == 0 { try task.checkpoint() }
                    cmsDoTransform(transform, from + y * pixels.bytesPerRow, to + y * stride, UInt32(size.width))
                }
                // LittleCMS copies alpha only between formats with equally many channels beside the colours; pixels
                // of grey have three.
                if format != eidetic_type_rgba_8 { pixels.copyAlpha(to: target) }
            }
        }
    }

    /// Returns LittleCMS's pixel format for a profile and colour model; `nil` if they do not match.
    private static func pixelFormat(for profile: cmsHPROFILE, colorModel model: DecodedPixels.ColorModel) -> UInt32? {
        switch (cmsGetColorSpace(profile), model) {
        case (cmsSigRgbData, .rgb): eidetic_type_rgba_8
        case (cmsSigGrayData, .rgb): eidetic_type_gray_rgba_8
        case (cmsSigCmykData, .cmyk): eidetic_type_cmyk_8
        default: nil
        }
    }

    /// Returns `true` if the profile is described as sRGB and is no look-up table, so that a conversion would change
    /// almost nothing; otherwise, `false`.
    private static func isSRGB(_ profile: cmsHPROFILE) -> Bool {
        var text = [CChar](repeating: 0, count: 64)
        let length = cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", &text, UInt32(text.count))
        guard length > 0, cmsIsMatrixShaper(profile) != 0 else { return false }
        let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name.hasPrefix("sRGB") || name.hasPrefix("c2")
    }
}
