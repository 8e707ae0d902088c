import CLCMS
import CPixels
import EideticCore

/// Converts pictures with an embedded colour profile to sRGB by LittleCMS.
///
/// Relative colorimetric with black point compensation, as browsers and viewers do.
final class ColourConverter {
    private let transform: cmsHTRANSFORM
    private let isCMYK: Bool

    /// `nil` where the profile is sRGB already, is broken, or describes other channels than the picture has; then the
    /// numbers are taken as they are.
    init?(profile: [UInt8], colorModel: DecodedPixels.ColorModel) {
        guard let source = profile.withUnsafeBytes({ cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) }) else {
            return nil
        }
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
        isCMYK = colorModel == .cmyk
    }

    deinit { cmsDeleteTransform(transform) }

    /// The picture in sRGB; `pixels` are not premultiplied.
    func convert(_ pixels: PixelBuffer, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        precondition(pixels.alpha != .premultiplied)
        let size = pixels.size
        return try PixelBuffer(size: size, alpha: pixels.alpha) { target, stride throws(EideticError) in
            try pixels.withUnsafeBytes { source throws(EideticError) in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                for y in 0..<size.height {
                    if y % 32 == 0 { try task.checkpoint() }
                    cmsDoTransform(transform, from + y * pixels.bytesPerRow, to + y * stride, UInt32(size.width))
                }
                // Inks have no alpha that could be copied.
                if isCMYK { eidetic_pixels_make_opaque(target.bytePointer, size.pixelCount) }
            }
        }
    }

    /// How the picture's bytes are read by a profile of this kind.
    private static func pixelFormat(for profile: cmsHPROFILE, colorModel model: DecodedPixels.ColorModel) -> UInt32? {
        switch (cmsGetColorSpace(profile), model) {
        case (cmsSigRgbData, .rgb): eidetic_type_rgba_8
        case (cmsSigGrayData, .rgb): eidetic_type_gray_rgba_8
        case (cmsSigCmykData, .cmyk): eidetic_type_cmyk_8
        default: nil
        }
    }

    /// Whether a conversion would change nothing worth the time: its description says sRGB and it is no look-up table.
    private static func isSRGB(_ profile: cmsHPROFILE) -> Bool {
        var text = [CChar](repeating: 0, count: 64)
        let length = cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", &text, UInt32(text.count))
        guard length > 0, cmsIsMatrixShaper(profile) != 0 else { return false }
        let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name.hasPrefix("sRGB") || name.hasPrefix("c2")
    }
}
