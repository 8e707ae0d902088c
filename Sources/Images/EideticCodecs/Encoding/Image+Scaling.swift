import EideticCore
import Glibc

extension Image {
    /// Returns the frames that an encoder writes, in at most the largest size.
    func prepared(
        for encoder: any FormatEncoder.Type,
        maximumSize: PixelSize?
    ) throws(EideticError) -> Image {
        let image = isAnimated && !encoder.isAnimated ? replacingFrames([Frame(pixels: pixels)]) : self
        return try image.fitted(into: maximumSize)
    }

    /// Returns the image in at most the largest size, if there is one.
    func fitted(into maximumSize: PixelSize?) throws(EideticError) -> Image {
        guard let maximumSize else { return try expanded() }
        return try resampled(to: size.scaled(to: maximumSize, mode: .fit))
    }

    /// The logarithm of the scale at which the image has one pixel.
    var smallestScale: Double { -log(Double(max(size.width, size.height))) }

    /// Returns the image scaled by a power of e.
    func scaled(byLogarithm scale: Double) throws(EideticError) -> Image {
        func length(_ side: Int) -> Int { max(1, Int((Double(side) * exp(scale)).rounded())) }
        return try resampled(to: PixelSize(width: length(size.width), height: length(size.height)))
    }

    private func resampled(to target: PixelSize) throws(EideticError) -> Image {
        guard target != size else { return try expanded() }
        var smaller: [Frame] = []
        for frame in frames {
            smaller.append(Frame(pixels: try Resampler.resample(frame.pixels, to: target), duration: frame.duration))
        }
        return replacingFrames(smaller)
    }
}
