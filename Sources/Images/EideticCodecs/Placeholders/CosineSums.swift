import EideticCore

/// Sums of a channel, weighted by products of cosines: the low frequencies of an image.
struct CosineSums {
    let size: PixelSize
    private let across: [[Double]]
    private let down: [[Double]]

    /// Creates the cosines of `count` frequencies each way; `phase` is the position inside a pixel, from 0 to 1.
    init(size: PixelSize, count: PixelSize, phase: Double) {
        self.size = size
        across = Self.cosines(count: count.width, length: size.width, phase: phase)
        down = Self.cosines(count: count.height, length: size.height, phase: phase)
    }

    private static func cosines(count: Int, length: Int, phase: Double) -> [[Double]] {
        (0..<count).map { frequency in
            (0..<length).map { position in
                let turns = Double(frequency) * (Double(position) + phase) / Double(length)
                return Trigonometry.sine(degrees: 180 * turns.remainder(dividingBy: 2) + 90)
            }
        }
    }

    /// Returns the means of a channel, weighted by the cosines of each pair of frequencies, row by row of them.
    func means(of channel: [Double]) -> [[Double]] {
        let rows = across.map { cosines in
            (0..<size.height).map { Self.sum(of: channel, from: $0 * size.width, times: cosines) }
        }
        return down.map { cosines in
            rows.map { Self.sum(of: $0, from: 0, times: cosines) / Double(size.pixelCount) }
        }
    }

    private static func sum(of values: [Double], from start: Int, times factors: [Double]) -> Double {
        values.withUnsafeBufferPointer { values in
            factors.withUnsafeBufferPointer { factors in
                var sum = 0.0
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
