import EideticCodecs
import EideticCore
import Glibc

/// Synthetic images, the same in every run.
enum TestImages {
    /// Returns soft gradients with noise and a hard edge, which exercise every part of a codec.
    static func photo(width: Int, height: Int, alpha: PixelBuffer.Alpha = .opaque) throws -> PixelBuffer {
        // For debug builds: nothing in the loop is generic, or computed for each pixel though a row or column has it.
        let columns = (0..<width).map { 100 * sin(Double($0) / 17) }, rows = (0..<height).map { cos(Double($0) / 23) }
        return try PixelBuffer(size: PixelSize(width: width, height: height), alpha: alpha) { pixels, stride in
            var noise = UInt32(1), y = 0
            while y < height {
                var x = 0
                while x < width {
                    noise = noise &* 1_664_525 &+ 1_013_904_223
                    let edge: Double = x > width / 3 && y > height / 2 ? 50 : 0
                    let light = 110 + columns[x] * rows[y] * 0.7 + edge + Double(noise >> 24) / 16
                    let pixel = y * stride + 4 * x
                    pixels[pixel] = clamp(light)
                    pixels[pixel + 1] = clamp(light * 0.8 + 20)
                    pixels[pixel + 2] = clamp(200 - light * 0.5)
                    pixels[pixel + 3] = alpha == .opaque ? 255 : UInt8(truncatingIfNeeded: 7 * x + 3 * y)
                    x += 1
                }
                y += 1
            }
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
                    let value = colour(x, y), pixel = y * stride + 4 * x
                    pixels[pixel] = value[0]
                    pixels[pixel + 1] = value[1]
                    pixels[pixel + 2] = value[2]
                    pixels[pixel + 3] = value[3]
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

    private static func clamp(_ value: Double) -> UInt8 { value < 0 ? 0 : value > 255 ? 255 : UInt8(value) }
}

extension PixelBuffer {
    /// The bytes, row by row.
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Returns the peak signal-to-noise ratio of two images of one size, in decibels; infinity if they are equal.
func signalToNoiseRatio(_ first: PixelBuffer, _ second: PixelBuffer) -> Double {
    precondition(first.size == second.size)
    let one = first.bytes, other = second.bytes
    var sum = 0, index = 0
    while index < one.count {
        let difference = Int(one[index]) - Int(other[index])
        sum += difference * difference
        index += 1
    }
    let mean = Double(sum) / Double(one.count)
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
