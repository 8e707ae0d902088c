import CPixels
import EideticCore
import Glibc

/// The weights of a three-lobed Lanczos filter along one axis.
struct ResamplingFilter {
    private var firstPixels: [Int32] = []
    private var weights: [Int16] = []
    /// The number of weights of a target.
    let taps: Int

    /// The value 1 in the kernel's fixed-point format.
    private static let fixedPointOne = 1 << 14

    /// Creates the weights that map `sourceLength` pixels to `targetLength` pixels.
    ///
    /// `extent` is the part of the source axis that the target covers: less than `sourceLength` if the last source
    /// pixel is the average of an incomplete cell.
    /// `checkpoint` is called every few thousand weights.
    ///
    /// - Throws: The errors of `checkpoint`.
    init(
        sourceLength: Int,
        extent: Double,
        targetLength: Int,
        checkpoint: () throws(EideticError) -> Void
    ) throws(EideticError) {
        let scale = extent / Double(targetLength)
        let support = 3 * max(1, scale)
        taps = Self.taps(support: support, sourceLength: sourceLength)
        let targetsPerCheckpoint = max(1, Self.weightsPerCheckpoint / taps)
        for index in 0..<targetLength {
            if index % targetsPerCheckpoint == 0 { try checkpoint() }
            let centre = (Double(index) + 0.5) * scale
            let start = min(max(0, Int((centre - support).rounded(.up))), sourceLength - taps)
            firstPixels.append(Int32(start))
            weights += Self.weights(start: start, taps: taps, centre: centre, scale: max(1, scale))
        }
    }

    /// The number of weights between two checkpoints.
    private static let weightsPerCheckpoint = 1 << 14

    /// Returns the memory of a filter for these lengths, in bytes.
    static func byteCount(sourceLength: Int, targetLength: Int) -> Int {
        targetLength * (2 * taps(sourceLength: sourceLength, targetLength: targetLength) + 4)
    }

    /// Returns the number of weights of each target of a filter for these lengths.
    static func taps(sourceLength: Int, targetLength: Int) -> Int {
        taps(support: 3 * max(1, Double(sourceLength) / Double(targetLength)), sourceLength: sourceLength)
    }

    private static func taps(support: Double, sourceLength: Int) -> Int {
        min(sourceLength, 2 * Int(support.rounded(.up)) + 1)
    }

    /// Returns the sources of a range of targets that is not empty.
    func sources(of targets: Range<Int>) -> Range<Int> {
        Int(firstPixels[targets.lowerBound])..<Int(firstPixels[targets.upperBound - 1]) + taps
    }

    /// Calls `body` with the weights of the targets from `index` on, as the C kernels take them.
    func withKernel(from index: Int = 0, body: (eidetic_filter) -> Void) {
        firstPixels.withUnsafeBufferPointer { first in
            weights.withUnsafeBufferPointer { weights in
                let first = first.baseAddress.map { $0 + index },
                    weights = weights.baseAddress.map { $0 + index * taps }
                body(eidetic_filter(first: first, weights: weights, taps: taps))
            }
        }
    }

    /// Returns weights whose sum is exactly one, so that a uniform area stays uniform.
    private static func weights(start: Int, taps: Int, centre: Double, scale: Double) -> [Int16] {
        var values = Array(repeating: 0.0, count: taps)
        var sum = 0.0
        var index = 0
        while index < taps {
            values[index] = lanczos((Double(start + index) + 0.5 - centre) / scale)
            sum += values[index]
            index += 1
        }
        var rest = fixedPointOne
        var heaviest = 0
        var fixed = Array(repeating: Int16(0), count: taps)
        index = 0
        while index < taps {
            let weight = Int((values[index] / sum * Double(fixedPointOne)).rounded())
            fixed[index] = Int16(clamping: weight)
            rest -= weight
            if fixed[index] > fixed[heaviest] { heaviest = index }
            index += 1
        }
        fixed[heaviest] = Int16(clamping: Int(fixed[heaviest]) + rest)
        return fixed
    }

    private static func lanczos(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        let angle = x * .pi
        // sin 3φ = 3 sin φ - 4 sin³ φ
        let third = sin(angle / 3)
        return 3 * third * third * (3 - 4 * third * third) / (angle * angle)
    }
}
