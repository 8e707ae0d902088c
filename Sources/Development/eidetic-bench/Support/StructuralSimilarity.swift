import EideticCodecs
import EideticCore

/// The structural similarity of two images (SSIM): 1 for equal ones.
///
/// - SeeAlso: Wang et al., "Image quality assessment: from error visibility to structural similarity", IEEE
///   Transactions on Image Processing 13 (2004).
enum StructuralSimilarity {
    /// Returns the mean over windows of 8 × 8 luma samples.
    static func value(of first: PixelBuffer, and second: PixelBuffer) throws -> Double {
        let second = try Resampler.resample(second, to: first.size)
        let (left, right) = (luma(of: first), luma(of: second)), width = first.size.width
        var sum = 0.0
        var count = 0.0
        for y in stride(from: 0, to: first.size.height - 7, by: 4) {
            for x in stride(from: 0, to: width - 7, by: 4) {
                let indices = (0..<64).map { (y + $0 / 8) * width + x + $0 % 8 }
                sum += similarity(of: indices.map { left[$0] }, and: indices.map { right[$0] })
                count += 1
            }
        }
        return sum / count
    }

    private static func similarity(of first: [Double], and second: [Double]) -> Double {
        let count = Double(first.count)
        let means = (first.reduce(0, +) / count, second.reduce(0, +) / count)
        var (variances, covariance) = ((0.0, 0.0), 0.0)
        for (left, right) in zip(first, second) {
            variances.0 += (left - means.0) * (left - means.0) / (count - 1)
            variances.1 += (right - means.1) * (right - means.1) / (count - 1)
            covariance += (left - means.0) * (right - means.1) / (count - 1)
        }
        // (0.01 · 255)² and (0.03 · 255)², which keep quotients of small numbers stable.
        let constants = (6.5025, 58.5225)
        return (2 * means.0 * means.1 + constants.0) * (2 * covariance + constants.1)
            / ((means.0 * means.0 + means.1 * means.1 + constants.0) * (variances.0 + variances.1 + constants.1))
    }

    private static func luma(of pixels: PixelBuffer) -> [Double] {
        (0..<pixels.size.pixelCount).map { index in
            let pixel = pixels[index % pixels.size.width, index / pixels.size.width]
            return 0.299 * Double(pixel.x) + 0.587 * Double(pixel.y) + 0.114 * Double(pixel.z)
        }
    }
}
