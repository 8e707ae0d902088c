import CLCMS
import CPixels
import EideticCore

/// Converts pixels from the colour space that their file states to sRGB by LittleCMS.
///
/// As in browsers: by the perceptual table of a profile where it has one, and without black point compensation.
final class ColourConverter {
    private let transform: cmsHTRANSFORM
    /// The format of the pixels to convert.
    private let format: UInt32

    /// Creates a converter, unless the colour space is sRGB, or a profile that is invalid or too large, or describes
    /// other channels than the pixels have.
    ///
    /// Without a converter, the stored values are used unchanged.
    init?(from colourSpace: ColourSpace, colorModel: DecodedPixels.ColorModel) {
        guard let source = Self.profile(of: colourSpace), !source.isSRGB,
            let format = Self.pixelFormat(for: source.handle, colorModel: colorModel),
            let target = cmsCreate_sRGBProfile()
        else { return nil }
        defer { cmsCloseProfile(target) }
        // LittleCMS compensates for the black point of each perceptual table if the target has version 4.
        cmsSetProfileVersion(target, 2.1)
        guard
            let transform = cmsCreateTransform(
                source.handle,
                format,
                target,
                eidetic_type_rgba_8,
                UInt32(INTENT_PERCEPTUAL),
                UInt32(cmsFLAGS_COPY_ALPHA)
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

    private static func profile(of colourSpace: ColourSpace) -> ColourProfile? {
        switch colourSpace {
        case .profile(let bytes): ColourProfile(bytes)
        case .primaries(let primaries, let transfer): ColourProfile(primaries: primaries, transfer: transfer)
        }
    }
}
