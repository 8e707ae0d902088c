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
        weights.reserveCapacity(targetLength * taps)
        var values = Array(repeating: 0.0, count: taps)
        var series = LanczosSeries(scale: max(1, scale))
        let targetsPerCheckpoint = max(1, Self.weightsPerCheckpoint / taps)
        for index in 0..<targetLength {
            if index % targetsPerCheckpoint == 0 { try checkpoint() }
            let centre = (Double(index) + 0.5) * scale
            let start = min(max(0, Int((centre - support - 0.5).rounded(.up))), sourceLength - taps)
            firstPixels.append(Int32(start))
            series.write(from: Double(start) + 0.5 - centre, to: &values)
            append(values)
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

    /// A multiple of four, with weights of zero: the kernels take four pixels at a time, and fewer take much longer.
    private static func taps(support: Double, sourceLength: Int) -> Int {
        min(sourceLength, (Int((2 * support).rounded(.up)) + 3) / 4 * 4)
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

    /// Appends weights whose sum is exactly one, so that a uniform area stays uniform.
    private mutating func append(_ values: [Double]) {
        let factor = Double(Self.fixedPointOne) / values.reduce(0, +)
        var rest = Self.fixedPointOne
        var heaviest = (index: weights.count, weight: Int.min)
        for value in values {
            let scaled = value * factor
            // Rounded to nearest; the function for it is a call on processors of the baseline.
            let weight = Int(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
            if weight > heaviest.weight { heaviest = (weights.count, weight) }
            weights.append(Int16(clamping: weight))
            rest -= weight
        }
        weights[heaviest.index] = Int16(clamping: heaviest.weight + rest)
    }
}

/// The Lanczos function at successive pixels.
private struct LanczosSeries {
    /// The angle between two pixels.
    private let angle: Double
    /// The sines and the cosines of that angle, and of the current one.
    private let step: SIMD2<Double>
    private var turn = SIMD2<Double>.zero

    init(scale: Double) {
        angle = .pi / 3 / scale
        step = Self.turn(angle)
    }

    private static func turn(_ angle: Double) -> SIMD2<Double> { SIMD2(sin(angle), cos(angle)) }

    /// Computes the values from a distance to the centre on; a sine follows from the one before.
    mutating func write(from distance: Double, to values: inout [Double]) {
        turn = Self.turn(distance * angle)
        for index in values.indices {
            values[index] = value(at: (distance + Double(index)) * angle)
            turn = SIMD2(turn.x * step.y + turn.y * step.x, turn.y * step.y - turn.x * step.x)
        }
    }

    /// Returns the value at a third of the angle.
    private func value(at third: Double) -> Double {
        guard abs(third) > 1e-6 else { return 1 }
        guard abs(third) < .pi else { return 0 }
        // sin 3φ = 3 sin φ - 4 sin³ φ
        let square = turn.x * turn.x
        return square * (3 - 4 * square) / (3 * third * third)
    }
}
