import EideticCore

extension DecodePlan {
    /// Checks the limits on sides and pixels.
    ///
    /// `size` is the size at which the codec decodes, before any scaling.
    static func check(
        _ header: ImageHeader,
        drawnSize size: PixelSize,
        limits: DecodeLimits
    ) throws(EideticError) {
        guard max(size.width, size.height) <= limits.sideLength else {
            throw EideticError(
                .limitExceeded,
                message: "\(header.format.rawValue): \(size) pixels; the limit is \(limits.sideLength) per side"
            )
        }
        let pixels = size.pixelCount
        // Independent of the limit: no address has more bits.
        let maximumPixels = min(limits.pixels, 1 << 44)
        guard pixels <= maximumPixels else {
            let actual = "\(size) = \(pixels) pixels"
            throw EideticError(
                .limitExceeded,
                message: "\(header.format.rawValue): \(actual); the limit is \(maximumPixels)"
            )
        }
    }

    /// Checks the limit on the frames of an animation that is to be played.
    static func checkFrameCount(of header: ImageHeader, limits: DecodeLimits) throws(EideticError) {
        guard header.frameCount > limits.frames else { return }
        let actual = "\(header.frameCount) frames"
        throw EideticError(
            .limitExceeded,
            message: "\(header.format.rawValue): \(actual); the limit is \(limits.frames)"
        )
    }

    /// Checks the limits on the frames of an animation, unless the first one is wanted alone.
    func checkAnimationLimit() throws(EideticError) {
        guard options.frames == .all, header.frameCount > 1 else { return }
        try Self.checkFrameCount(of: header, limits: limits)
        let (bytes, overflow) = (4 * targetSize.pixelCount).multipliedReportingOverflow(by: header.frameCount)
        guard overflow || bytes > limits.animationBytes.bytes else { return }
        let actual = "\(header.frameCount) frames of \(targetSize) = \(overflow ? .max : bytes) bytes"
        let limit = limits.animationBytes.bytes
        throw EideticError(.limitExceeded, message: "\(header.format.rawValue): \(actual); the limit is \(limit)")
    }
}
