import EideticCodecs
import EideticCore
import Glibc

/// Synthetic images, the same in every run.
enum TestImages {
    /// Returns soft gradients with noise and a hard edge, which exercise every part of a codec.
    static func photo(width: Int, height: Int, alpha: PixelBuffer.Alpha = .opaque) throws -> PixelBuffer {
        var noise = UInt32(1)
        return try makePixels(width: width, height: height, alpha: alpha) { x, y in
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let grain = Double(noise >> 24) / 16
            let wave = 100 * sin(Double(x) / 17) * cos(Double(y) / 23)
            let edge: Double = x > width / 3 && y > height / 2 ? 50 : 0
            let light = 110 + wave * 0.7 + edge + grain
            let opacity = alpha == .opaque ? 255 : UInt8(truncatingIfNeeded: 7 * x + 3 * y)
            return [clamp(light), clamp(light * 0.8 + 20), clamp(200 - light * 0.5), opacity]
        }
    }

    /// Returns an image of one colour.
    static func solid(width: Int, height: Int, colour: [UInt8]) throws -> PixelBuffer {
        try makePixels(width: width, height: height, alpha: colour[3] == 255 ? .opaque : .straight) { _, _ in colour }
    }

    /// Returns an image from a function of the position.
    static func makePixels(
        width: Int,
        height: Int,
        alpha: PixelBuffer.Alpha,
        colour: (Int, Int) -> [UInt8]
    ) throws -> PixelBuffer {
        try PixelBuffer(size: PixelSize(width: width, height: height), alpha: alpha) { pixels, stride in
            for y in 0..<height {
                for x in 0..<width {
                    for (channel, value) in colour(x, y).enumerated() { pixels[y * stride + 4 * x + channel] = value }
                }
            }
        }
    }

    static func makeImage(_ frames: PixelBuffer..., loopCount: Int? = 1, milliseconds: [Int] = []) -> Image {
        let durations = milliseconds + Array(repeating: 0, count: frames.count - milliseconds.count)
        return Image(
            frames: zip(frames, durations).map { Image.Frame(pixels: $0, duration: .milliseconds($1)) },
            loopCount: loopCount,
            format: .png,
            sourceSize: frames[0].size
        )
    }

    private static func clamp(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value))) }
}

extension PixelBuffer {
    /// The bytes, row by row.
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Returns the peak signal-to-noise ratio of two images of one size, in decibels; infinity if they are equal.
func signalToNoiseRatio(_ first: PixelBuffer, _ second: PixelBuffer) -> Double {
    precondition(first.size == second.size)
    let errors = zip(first.bytes, second.bytes).map { pow(Double($0) - Double($1), 2) }
    let mean = errors.reduce(0, +) / Double(errors.count)
    return mean == 0 ? .infinity : 10 * log10(255 * 255 / mean)
}

/// Returns the code of the error that `body` throws; `nil` if it throws none.
func errorCode(of body: () throws(EideticError) -> Void) -> EideticError.Code? {
    do { try body() } catch { return error.code }
    return nil
}

extension DecodeOptions {
    /// Returns the default options modified by `change`.
    static func with(_ change: (inout DecodeOptions) -> Void) -> DecodeOptions {
        var options = DecodeOptions()
        change(&options)
        return options
    }
}
