import EideticCore

extension DecodePlan {
    /// Returns the target size in stored orientation.
    static func targetSize(for header: ImageHeader, options: DecodeOptions) -> PixelSize {
        let isTransposed = options.appliesOrientation && header.orientation.swapsDimensions
        var size = isTransposed ? header.uprightSize : header.size
        if let requestedSize = options.size {
            // A vector image can be enlarged.
            if header.format == .svg { size = PixelSize(width: size.width << 24, height: size.height << 24) }
            size = size.scaled(to: requestedSize, mode: options.contentMode)
        }
        if let limit = options.byteLimit {
            let frames = options.frames == .all ? header.frameCount : 1
            size = size.reduced(toPixelCount: limit.bytes / (4 * frames))
        }
        return isTransposed ? size.transposed : size
    }
}

extension PixelSize {
    /// Returns the largest size of the same aspect ratio with at most `limit` pixels, but at least one pixel per side.
    fileprivate func reduced(toPixelCount limit: Int) -> PixelSize {
        guard pixelCount > limit else { return self }
        let factor = (Double(max(1, limit)) / Double(pixelCount)).squareRoot()
        let scaledWidth = max(1, Int(Double(width) * factor))
        let scaledHeight = max(1, Int(Double(height) * factor))
        // If one side is clamped to one pixel, the other one shrinks accordingly.
        return PixelSize(
            width: min(scaledWidth, max(1, limit / scaledHeight)),
            height: min(scaledHeight, max(1, limit / scaledWidth))
        )
    }
}
