import CPixels
import Glibc

/// The weights of a three-lobed Lanczos filter along one axis.
struct ResamplingFilter {
    private var firstPixels: [Int32] = []
    private var weights: [Int16] = []
    private let taps: Int

    /// The value 1 in the kernel's fixed-point format.
    private static let fixedPointOne = 1 << 14

    /// Creates the weights that map `sourceLength` pixels to at most as many `targetLength` pixels.
    ///
    /// `extent` is the part of the source axis that the target covers: less than `sourceLength` if the last source
    /// pixel is the average of an incomplete cell.
    init(sourceLength: Int, extent: Double, targetLength: Int) {
        let scale = extent / Double(targetLength)
        let support = 3 * max(1, scale)
        taps = min(sourceLength, 2 * Int(support.rounded(.up)) + 1)
        for index in 0..<targetLength {
            let centre = (Double(index) + 0.5) * scale
            let start = min(max(0, Int((centre - support).rounded(.up))), sourceLength - taps)
            firstPixels.append(Int32(start))
            weights += Self.weights(start: start, taps: taps, centre: centre, scale: max(1, scale))
        }
    }

    /// Calls `body` with the weights as the C kernels take them.
    func withKernel(_ body: (eidetic_filter) -> Void) {
        firstPixels.withUnsafeBufferPointer { first in
            weights.withUnsafeBufferPointer { weights in
                body(eidetic_filter(first: first.baseAddress, weights: weights.baseAddress, taps: taps))
            }
        }
    }

    /// Returns weights whose sum is exactly one, so that a uniform area stays uniform.
    private static func weights(start: Int, taps: Int, centre: Double, scale: Double) -> [Int16] {
        let values = (0..<taps).map { lanczos((Double(start + $0) + 0.5 - centre) / scale) }
        let sum = values.reduce(0, +)
        var fixed = values.map { Int(($0 / sum * Double(fixedPointOne)).rounded()) }
        let heaviest = fixed.indices.max { fixed[$0] < fixed[$1] } ?? 0
        fixed[heaviest] += fixedPointOne - fixed.reduce(0, +)
        return fixed.map { Int16(clamping: $0) }
    }

    private static func lanczos(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        let angle = x * .pi
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
}
