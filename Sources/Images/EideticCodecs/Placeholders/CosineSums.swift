import EideticCore

/// Sums of the pixels of an image, weighted by products of cosines: its low frequencies.
struct CosineSums {
    let size: PixelSize
    private let across: [[Double]]
    private let down: [[Double]]

    /// Creates the cosines of `count` frequencies each way, at the centres of pixels or at their beginnings.
    init(size: PixelSize, count: PixelSize, isCentred: Bool) {
        self.size = size
        across = Self.cosines(count: count.width, length: size.width, isCentred: isCentred)
        down = Self.cosines(count: count.height, length: size.height, isCentred: isCentred)
    }

    private static func cosines(count: Int, length: Int, isCentred: Bool) -> [[Double]] {
        // The angles are multiples of a half turn divided by twice the length.
        let table = (0...2 * length).map { Trigonometry.sine(degrees: 90 + 90 * Double($0) / Double(length)) }
        return (0..<count).map { frequency in
            (0..<length).map { position in
                let angle = frequency * (2 * position + (isCentred ? 1 : 0)) % (4 * length)
                return table[min(angle, 4 * length - angle)]
            }
        }
    }

    /// Returns the means of all pixels, weighted by the cosines of each pair of frequencies, row by row of them.
    func means(of pixels: [SIMD4<Double>]) -> [[SIMD4<Double>]] {
        let rows = across.map { cosines in
            (0..<size.height).map { Self.sum(of: pixels, from: $0 * size.width, times: cosines) }
        }
        return down.map { cosines in
            rows.map { Self.sum(of: $0, from: 0, times: cosines) / Double(size.pixelCount) }
        }
    }

    private static func sum(of values: [SIMD4<Double>], from start: Int, times factors: [Double]) -> SIMD4<Double> {
        values.withUnsafeBufferPointer { values in
            factors.withUnsafeBufferPointer { factors in
                var sum = SIMD4<Double>.zero
                var index = 0
                while index < factors.count {
                    sum += values[start + index] * factors[index]
                    index += 1
                }
                return sum
            }
        }
    }

    /// Returns the product of the cosines of a pair of frequencies at a position.
    func weight(_ frequency: (x: Int, y: Int), at position: (x: Int, y: Int)) -> Double {
        across[frequency.x][position.x] * down[frequency.y][position.y]
    }
}
