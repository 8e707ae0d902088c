package import EideticCore
import Glibc

/// The search for an encoding of at most a number of bytes, in few attempts.
///
/// The logarithm of the size is nearly a straight line over the parameter, so each attempt is read off the curve
/// through the earlier ones.
package struct ByteCountSearch {
    /// The largest number of bytes.
    let limit: Int
    /// The range of the parameter; its end is the first attempt.
    let range: ClosedRange<Double>
    /// The growth of the logarithm of the size with the parameter, as long as only one size is known.
    let slope: Double
    /// The part of the limit that is aimed at.
    var aim = 0.99

    package static let maximumAttemptCount = 4

    /// The parameter of an attempt, and the logarithm of the size of its result.
    private struct Point {
        let parameter: Double
        let size: Double
    }

    /// Returns the largest result within the limit; `nil` if no attempt had one.
    package func run(encode: (Double) throws(EideticError) -> [UInt8]) throws(EideticError) -> [UInt8]? {
        var points: [Point] = [], best: [UInt8]?, parameter = range.upperBound
        while points.count < Self.maximumAttemptCount {
            let bytes = try encode(parameter)
            if bytes.count <= limit, bytes.count >= best?.count ?? 0 { best = bytes }
            if points.isEmpty && bytes.count <= limit || isNear(bytes.count) { break }
            points.append(Point(parameter: parameter, size: log(Double(bytes.count))))
            // The last attempt must not miss.
            let isLastChance = points.count == Self.maximumAttemptCount - 1 && best == nil
            parameter = next(after: points, goal: log(Double(limit) * (isLastChance ? aim * aim : aim)))
            if points.contains(where: { $0.parameter == parameter }) { break }
        }
        return best
    }

    /// Returns whether a size is so near the limit that another attempt has no use.
    private func isNear(_ count: Int) -> Bool { count <= limit && Double(count) >= (2 * aim - 1) * Double(limit) }

    private func next(after points: [Point], goal: Double) -> Double {
        let below = points.filter { $0.size <= goal }.max { $0.parameter < $1.parameter }
        let above = points.filter { $0.size > goal }.min { $0.parameter < $1.parameter }
        var next = Self.interpolate(points, at: goal)
        if points.count == 1 { next = points[0].parameter + (goal - points[0].size) / slope }
        if let below, let above, !(below.parameter..<above.parameter).contains(next) {
            next = Self.interpolate([below, above], at: goal)
        } else if let above, below == nil, !(next < above.parameter) {
            next = above.parameter + (goal - above.size) / slope
        }
        return min(max(next, range.lowerBound), range.upperBound)
    }

    /// Returns the parameter at a size on the polynomial through all points.
    private static func interpolate(_ points: [Point], at size: Double) -> Double {
        points.indices.reduce(0) { sum, index in
            let weight = points.indices.filter { $0 != index }.reduce(1) { product, other in
                product * (size - points[other].size) / (points[index].size - points[other].size)
            }
            return sum + weight * points[index].parameter
        }
    }
}
