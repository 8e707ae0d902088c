import CLCMS
import CPixels

/// A conversion to sRGB by LittleCMS.
///
/// As in browsers: by the perceptual table of a profile where it has one, and without black point compensation.
final class ProfileTransform {
    private let transform: cmsHTRANSFORM
    /// A Boolean value indicating whether the profile describes shades of grey.
    let isGrey: Bool
    /// A Boolean value indicating whether ``convert(_:to:)`` keeps alpha, which LittleCMS copies only between formats
    /// with equally many channels beside the colours: from RGB, not from grey, whose pixels have three, nor from inks.
    let keepsAlpha: Bool

    /// Creates a conversion of pixels with 8 bits per channel, or with 16, unless the profile describes other channels
    /// than the pixels have.
    init?(from source: borrowing ColourProfile, colorModel: DecodedPixels.ColorModel, isDeep: Bool) {
        guard let format = Self.pixelFormat(for: source.handle, colorModel: colorModel, isDeep: isDeep),
            let target = cmsCreate_sRGBProfile()
        else { return nil }
        defer { cmsCloseProfile(target) }
        // LittleCMS compensates for the black point of each perceptual table if the target has version 4.
        cmsSetProfileVersion(target, 2.1)
        // LittleCMS 2.16 makes no conversion that cannot copy alpha as it is told.
        let keepsAlpha = cmsGetColorSpace(source.handle) == cmsSigRgbData
        guard
            let transform = cmsCreateTransform(
                source.handle,
                format,
                target,
                eidetic_type_rgba_8,
                UInt32(INTENT_PERCEPTUAL),
                keepsAlpha ? UInt32(cmsFLAGS_COPY_ALPHA) : 0
            )
        else { return nil }
        self.transform = transform
        isGrey = cmsGetColorSpace(source.handle) == cmsSigGrayData
        self.keepsAlpha = keepsAlpha
    }

    deinit { cmsDeleteTransform(transform) }

    func convert(_ source: eidetic_pixels_source, to target: eidetic_pixels_target) {
        for y in 0..<source.height {
            let from = source.pixels + y * source.stride
            let to = target.pixels + y * target.stride
            cmsDoTransform(transform, from, to, UInt32(source.width))
        }
    }

    /// Returns LittleCMS's pixel format for a profile and colour model; `nil` if they do not match, and for 16 bits
    /// without alpha that LittleCMS copies.
    private static func pixelFormat(
        for profile: cmsHPROFILE,
        colorModel model: DecodedPixels.ColorModel,
        isDeep: Bool
    ) -> UInt32? {
        switch (cmsGetColorSpace(profile), model) {
        case (cmsSigRgbData, .rgb): isDeep ? eidetic_type_rgba_16 : eidetic_type_rgba_8
        case (cmsSigGrayData, .rgb): isDeep ? nil : eidetic_type_gray_rgba_8
        case (cmsSigCmykData, .cmyk): isDeep ? nil : eidetic_type_cmyk_8
        default: nil
        }
    }
}
