import CPixels
import EideticCore

/// Converts pixels from the colour space that their file states to sRGB.
enum ColourConverter {
    case shaper(MatrixShaper)
    case profile(ProfileTransform)
    case toneMapper(ToneMapper)

    /// Creates a converter of pixels with 8 bits per channel, or with 16, unless the colour space is sRGB, or a profile
    /// that is invalid or too large, or describes other channels than the pixels have.
    ///
    /// Without a converter, the stored values are used unchanged.
    init?(from colourSpace: ColourSpace, colorModel: DecodedPixels.ColorModel = .rgb, isDeep: Bool = false) {
        var colourSpace = colourSpace
        if colorModel == .rgb, case .profile(let bytes) = colourSpace,
            let codePoints = ICCProfile.codePoints(in: bytes)
        {
            guard let stated = codePoints.colourSpace() else { return nil }
            colourSpace = stated
        }
        if colorModel == .rgb, case .highDynamicRange(let colours) = colourSpace {
            guard let mapper = ToneMapper(colours) else { return nil }
            self = .toneMapper(mapper)
        } else if colorModel == .rgb, let entry = RecentShapers.entry(for: colourSpace, isDeep: isDeep) {
            guard let shaper = entry.shaper else { return nil }
            self = .shaper(shaper)
        } else {
            guard case .profile(let bytes) = colourSpace, let profile = ColourProfile(bytes),
                let transform = ProfileTransform(from: profile, colorModel: colorModel, isDeep: isDeep)
            else { return nil }
            self = .profile(transform)
        }
    }

    var isGrey: Bool {
        switch self {
        case .shaper(let shaper): shaper.isGrey
        case .profile(let transform): transform.isGrey
        case .toneMapper: false
        }
    }

    private var keepsAlpha: Bool { if case .profile(let transform) = self { transform.keepsAlpha } else { true } }

    private static let rowsPerCheckpoint = 32

    /// Returns the pixels in sRGB; `pixels` must not be premultiplied.
    func convert(_ pixels: PixelBuffer, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        precondition(pixels.alpha != .premultiplied)
        // A profile of grey does not describe an image in colours.
        if isGrey, !pixels.isGrey { return pixels }
        let size = pixels.size
        return try PixelBuffer(size: size, alpha: pixels.alpha) { target, stride throws(EideticError) in
            if !keepsAlpha { pixels.copyAlpha(to: target) }
            try pixels.withUnsafeBytes { source throws(EideticError) in
                try convert(
                    source.kernelSource(stride: pixels.bytesPerRow, size: size),
                    isDeep: false,
                    to: target.kernelTarget(stride: stride),
                    for: task
                )
            }
        }
    }

    /// Returns pixels of 16 bits in sRGB.
    func convert(_ pixels: borrowing DeepPixels, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let source = pixels.kernelSource
        return try PixelBuffer(size: pixels.size, alpha: pixels.alpha) { target, stride throws(EideticError) in
            try convert(source, isDeep: true, to: target.kernelTarget(stride: stride), for: task)
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
            case .shaper(let shaper): shaper.convert(rows, to: result)
            case .profile(let transform): transform.convert(rows, to: result)
            case .toneMapper(let mapper): mapper.map(rows, isDeep: isDeep, to: result)
            }
        }
    }
}
