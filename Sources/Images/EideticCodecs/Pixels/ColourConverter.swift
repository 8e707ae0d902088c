import CPixels
import EideticCore

/// Converts pixels from the colour space that their file states to sRGB.
enum ColourConverter {
    case profile(ProfileTransform)
    case toneMapper(ToneMapper)

    /// Creates a converter of pixels with 8 bits per channel, or with 16, unless the colour space is sRGB, or a profile
    /// that is invalid or too large, or describes other channels than the pixels have.
    ///
    /// Without a converter, the stored values are used unchanged.
    init?(from colourSpace: ColourSpace, colorModel: DecodedPixels.ColorModel = .rgb, isDeep: Bool = false) {
        switch colourSpace {
        case .highDynamicRange(let colours):
            guard colorModel == .rgb, let mapper = ToneMapper(colours) else { return nil }
            self = .toneMapper(mapper)
        case .profile(let bytes):
            if colorModel == .rgb, let codePoints = ICCProfile.codePoints(in: bytes) {
                guard let stated = codePoints.colourSpace() else { return nil }
                self.init(from: stated, isDeep: isDeep)
            } else {
                self.init(ColourProfile(bytes), colorModel: colorModel, isDeep: isDeep)
            }
        case .primaries(let primaries, let transfer):
            self.init(ColourProfile(primaries: primaries, transfer: transfer), colorModel: colorModel, isDeep: isDeep)
        }
    }

    private init?(_ profile: consuming ColourProfile?, colorModel: DecodedPixels.ColorModel, isDeep: Bool) {
        guard let profile, !profile.isSRGB,
            let transform = ProfileTransform(from: profile, colorModel: colorModel, isDeep: isDeep)
        else { return nil }
        self = .profile(transform)
    }

    var isGrey: Bool { if case .profile(let transform) = self { transform.isGrey } else { false } }

    private var keepsAlpha: Bool { if case .profile(let transform) = self { transform.keepsAlpha } else { true } }

    private static let rowsPerCheckpoint = 32

    /// Returns the pixels in sRGB; `pixels` must not be premultiplied.
    func convert(_ pixels: PixelBuffer, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        precondition(pixels.alpha != .premultiplied)
        // A profile of grey does not describe an image in colours.
        if isGrey, !pixels.isGrey { return pixels }
        let size = pixels.size
        return try PixelBuffer(size: size, alpha: pixels.alpha) { target, stride throws(EideticError) in
            try pixels.withUnsafeBytes { source throws(EideticError) in
                try convert(
                    source.kernelSource(stride: pixels.bytesPerRow, size: size),
                    isDeep: false,
                    to: target.kernelTarget(stride: stride),
                    for: task
                )
            }
            if !keepsAlpha { pixels.copyAlpha(to: target) }
        }
    }

    /// Returns pixels of 16 bits in sRGB.
    func convert(_ pixels: borrowing DeepPixels, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let source = pixels.kernelSource
        let alpha = pixels.alpha
        return try PixelBuffer(size: pixels.size, alpha: alpha) { target, stride throws(EideticError) in
            try convert(source, isDeep: true, to: target.kernelTarget(stride: stride), for: task)
            if !keepsAlpha { eidetic_pixels_copy_deep_alpha(source, target.kernelTarget(stride: stride)) }
        }
    }

    private func convert(
        _ source: eidetic_pixels_source,
        isDeep: Bool,
        to target: eidetic_pixels_target,
        for task: DecodeTask
    ) throws(EideticError) {
        for first in Swift.stride(from: 0, to: source.height, by: Self.rowsPerCheckpoint) {
            try task.checkpoint()
            var rows = source
            var result = target
            rows.height = min(Self.rowsPerCheckpoint, source.height - first)
            rows.pixels += first * source.stride
            result.pixels += first * target.stride
            switch self {
            case .profile(let transform): transform.convert(rows, to: result)
            case .toneMapper(let mapper): mapper.map(rows, isDeep: isDeep, to: result)
            }
        }
    }
}
