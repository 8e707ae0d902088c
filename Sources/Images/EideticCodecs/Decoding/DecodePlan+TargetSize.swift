package import EideticCore

extension DecodePlan {
    /// Returns the target size in stored orientation.
    static func targetSize(for header: ImageHeader, options: DecodeOptions) -> PixelSize {
        let isTransposed = options.appliesOrientation && header.orientation.swapsDimensions
        var size = isTransposed ? header.uprightSize : header.size
        if let requestedSize = options.size {
            // A vector image can be enlarged.
            if header.format == .svg { size = PixelSize(width: size.width << 24, height: size.height << 24) }
            // A vector image keeps its proportions where it is drawn.
            let isVector = header.format == .svg && options.contentMode == .stretch && requestedSize.isLimited
            size = size.scaledBeforeCrop(to: requestedSize, mode: isVector ? .fill : options.contentMode)
        }
        if let limit = options.byteLimit {
            let frames = options.frames == .all ? header.frameCount : 1
            size = size.reduced(toPixelCount: limit.bytes / (4 * frames))
        }
        return isTransposed ? size.transposed : size
    }
}

extension PixelBuffer {
    /// Returns the part of an upright decode that its options select: all of it, except with `fillCropped`.
    package func cropped(for options: DecodeOptions) throws(EideticError) -> PixelBuffer {
        let size = size.cropped(for: options)
        guard size != self.size else { return self }
        if options.contentMode == .stretch { return try Resampler.resample(self, to: size) }
        let focus = options.contentMode.focus ?? .center
        return try cropped(to: PixelRect(of: size, in: self.size, around: try point(of: focus, for: size)))
    }

    fileprivate func point(
        of focus: CropFocus,
        for size: PixelSize
    ) throws(EideticError) -> (x: Double, y: Double) {
        switch focus {
        case .point(let x, let y): (x, y)
        case .content: try ContentFocus(of: self).point(cropping: size, of: self.size)
        }
    }

    /// Returns the pixels of a rectangle inside the buffer.
    package func cropped(to area: PixelRect) throws(EideticError) -> PixelBuffer {
        guard area.size != size else { return self }
        let start = area.y * bytesPerRow + 4 * area.x
        return try PixelBuffer(size: area.size, alpha: alpha) { target, _ in
            withUnsafeBytes { bytes in
                let part = UnsafeRawBufferPointer(rebasing: bytes[start...])
                part.copyRows(of: area.size, stride: bytesPerRow, to: target, orientation: .up)
            }
        }
    }
}

extension DecodeOptions {
    /// Returns the options with the focus as a point, so that all frames are cropped as this one.
    func fixingFocus(in pixels: PixelBuffer) throws(EideticError) -> DecodeOptions {
        guard contentMode.focus == .content else { return self }
        let point = try pixels.point(of: .content, for: pixels.size.cropped(for: self))
        return with { $0.contentMode = .fillCropped(focus: .point(x: point.x, y: point.y)) }
    }
}

extension PixelSize {
    /// Returns the size of the part of an upright decode of this size that its options select.
    func cropped(for options: DecodeOptions) -> PixelSize {
        guard let requested = options.size, requested.isPositive, requested.isLimited,
            options.contentMode.changesProportions
        else { return self }
        return requested.scaled(to: self, mode: .fit)
    }

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
