import EideticCore
import Glibc

/// A reference Lanczos filter of three lobes in floating point.
enum ReferenceLanczos {
    static func resample(_ pixels: PixelBuffer, to size: PixelSize) throws -> PixelBuffer {
        let bytes = pixels.bytes
        let width = pixels.size.width, height = pixels.size.height
        let columns = weights(length: width, targetLength: size.width),
            rows = weights(length: height, targetLength: size.height)
        var narrow = [Float](repeating: 0, count: size.width * height * 4)
        for y in 0..<height {
            for x in 0..<size.width {
                for (tap, weight) in columns[x].weights.enumerated() {
                    let from = (y * width + columns[x].first + tap) * 4
                    for channel in 0..<4 {
                        narrow[(y * size.width + x) * 4 + channel] += weight * Float(bytes[from + channel])
                    }
                }
            }
        }
        return try TestImages.makePixels(width: size.width, height: size.height, alpha: pixels.alpha) { x, y in
            (0..<4).map { channel in
                let sum = rows[y].weights.enumerated().reduce(Float(0)) { sum, tap in
                    sum + tap.element * narrow[((rows[y].first + tap.offset) * size.width + x) * 4 + channel]
                }
                return UInt8(min(255, max(0, sum.rounded())))
            }
        }
    }

    private static func weights(length: Int, targetLength target: Int) -> [(first: Int, weights: [Float])] {
        let scale = Double(length) / Double(target)
        return (0..<target).map { index in
            let centre = (Double(index) + 0.5) * scale
            let first = max(0, Int((centre - 3 * scale).rounded(.down)))
            let last = min(length, Int((centre + 3 * scale).rounded(.up)))
            let values = (first..<last).map { kernel((Double($0) + 0.5 - centre) / scale) }
            let sum = values.reduce(0, +)
            return (first, values.map { Float($0 / sum) })
        }
    }

    private static func kernel(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        return abs(x) < 3 ? 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x) : 0
    }
}
