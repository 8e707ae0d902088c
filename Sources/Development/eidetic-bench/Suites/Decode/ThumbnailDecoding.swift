import CBareJPEG
import EideticCodecs
import EideticCore
import Glibc

extension Bench {
    /// Measures the time and quality of decoding a photograph to 400 pixels.
    func measureJPEGThumbnail(_ jpeg: [UInt8]) async throws {
        var options = DecodeOptions()
        options.size = PixelSize(width: 400, height: 400)
        try await compare(
            BenchmarkCase("jpeg to 400 px", unit: .milliseconds, goal: .ratio(0.65)),
            with: "libjpeg-turbo, whole",
            ours: { blackHole(try ImageDecoder.decode(jpeg, options: options)) },
            theirs: {
                jpeg.withUnsafeBufferPointer { free(eidetic_bare_jpeg_decode($0.baseAddress, $0.count, 1)) }
            }
        )
        let small = try ImageDecoder.decode(jpeg, options: options).pixels
        let reference = FloatImage(try ImageDecoder.decode(jpeg).pixels).downscaled(to: small.size)
        report(
            BenchmarkCase(
                "jpeg to 400 px, likeness to whole and Lanczos",
                unit: .decibels,
                better: .higher,
                goal: .value(45)
            ),
            samples: Samples(values: [reference.peakSignalToNoiseRatio(to: small)])
        )
    }
}

/// An image with floating-point colours, for an exact reference filter.
private struct FloatImage {
    private let size: PixelSize
    private let values: [SIMD4<Float>]

    init(_ pixels: PixelBuffer) {
        size = pixels.size
        values = pixels.withUnsafeBytes { bytes in
            (0..<pixels.size.pixelCount).map {
                SIMD4<Float>(bytes.loadUnaligned(fromByteOffset: 4 * $0, as: SIMD4<UInt8>.self))
            }
        }
    }

    private init(size: PixelSize, values: [SIMD4<Float>]) {
        self.size = size
        self.values = values
    }

    /// Returns the image downscaled by a three-lobed Lanczos filter, first along the rows, then along the columns.
    func downscaled(to target: PixelSize) -> FloatImage {
        resampled(toWidth: target.width).transposed.resampled(toWidth: target.height).transposed
    }

    /// Returns the peak signal-to-noise ratio to `pixels`, rounded to bytes and without alpha, in decibels.
    func peakSignalToNoiseRatio(to pixels: PixelBuffer) -> Double {
        let compared = FloatImage(pixels)
        var squares = 0.0
        for (mine, theirs) in zip(values, compared.values) {
            let limited = mine.rounded(.toNearestOrEven).clamped(lowerBound: .zero, upperBound: .init(repeating: 255))
            let difference = limited - theirs
            let square = difference * difference
            squares += Double(square.x + square.y + square.z)
        }
        return 10 * log10(255 * 255 * 3 * Double(size.pixelCount) / squares)
    }

    private var transposed: FloatImage {
        var turned: [SIMD4<Float>] = []
        turned.reserveCapacity(values.count)
        for x in 0..<size.width {
            for y in 0..<size.height { turned.append(values[y * size.width + x]) }
        }
        return FloatImage(size: size.transposed, values: turned)
    }

    private func resampled(toWidth width: Int) -> FloatImage {
        let scale = Double(size.width) / Double(width)
        let taps = (0..<width).map { index in
            let centre = (Double(index) + 0.5) * scale
            let first = max(0, Int((centre - 3 * scale).rounded(.down)))
            let last = min(size.width, Int((centre + 3 * scale).rounded(.up)))
            let weights = (first..<last).map { Self.lanczos((Double($0) + 0.5 - centre) / scale) }
            let sum = weights.reduce(0, +)
            return (first: first, weights: weights.map { Float($0 / sum) })
        }
        var result: [SIMD4<Float>] = []
        result.reserveCapacity(width * size.height)
        for y in 0..<size.height {
            for tap in taps {
                var sum = SIMD4<Float>.zero
                let start = y * size.width + tap.first
                for (offset, weight) in tap.weights.enumerated() { sum += values[start + offset] * weight }
                result.append(sum)
            }
        }
        return FloatImage(size: PixelSize(width: width, height: size.height), values: result)
    }

    private static func lanczos(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        return abs(x) < 3 ? 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x) : 0
    }
}
