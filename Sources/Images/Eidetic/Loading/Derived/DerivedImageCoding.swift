import EideticCodecs
import EideticCore
import Glibc

/// The conversion between derived images and their bytes on disk.
///
/// Small images are kept as pixels, opaque ones as JPEG of more than 42 dB, all others without loss as PNG.
/// docs/decisions has the figures.
enum DerivedImageCoding {
    /// An encoded image.
    struct Encoded: Sendable {
        let bytes: [UInt8]
        /// The processor time of decoding it.
        let decodingTime: Duration
    }

    /// The largest number of pixels of an image that is kept as pixels.
    static let rawPixelCount = 4_096
    /// The least quality of an image that is kept with loss, as the peak signal-to-noise ratio in decibels.
    static let minimumQuality = 42.0
    private static let qualities = [0.9, 0.96]

    /// Encodes an image, and decodes it again to measure the time and the loss.
    static func encode(_ image: Image, isExact: Bool, limits: DecodeLimits) throws(EideticError) -> Encoded {
        let pixels = image.pixels
        guard pixels.size.pixelCount > rawPixelCount else { return raw(pixels) }
        if !isExact, pixels.alpha == .opaque {
            for quality in qualities {
                let file = try ImageEncoder.encode(image, as: .jpeg, quality: quality)
                let (decoded, time) = try timed { () throws(EideticError) in try decode(file, limits: limits) }
                if likeness(of: decoded.pixels, to: pixels) >= minimumQuality {
                    return Encoded(bytes: file, decodingTime: time)
                }
            }
        }
        let file = try ImageEncoder.encode(image, as: .png)
        let (decoded, time) = try timed { () throws(EideticError) in try decode(file, limits: limits) }
        let isEqual = likeness(of: decoded.pixels, to: pixels) == .infinity
        return isEqual ? Encoded(bytes: file, decodingTime: time) : raw(pixels)
    }

    private static func raw(_ pixels: PixelBuffer) -> Encoded {
        Encoded(bytes: RawPixels.encode(pixels), decodingTime: .nanoseconds(pixels.size.pixelCount / 4))
    }

    /// Decodes a file that ``encode(_:isExact:limits:)`` or an application has made.
    static func decode(
        _ bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits,
        context: JobContext? = nil
    ) throws(EideticError) -> Image {
        if RawPixels.matches(bytes) {
            guard let pixels = try RawPixels.decode(bytes) else {
                throw EideticError(.corrupt, message: "a derived image of \(bytes.count) bytes does not fit its size")
            }
            return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        }
        guard let context else { return try ImageDecoder.decode(bytes, options: options, limits: limits) }
        return try ImageDecoder.decode(bytes, options: options, limits: limits, context: context)
    }

    /// Runs a function, and returns its result with the processor time of this thread.
    static func timed<Value>(
        _ body: () throws(EideticError) -> Value
    ) throws(EideticError) -> (Value, Duration) {
        let start = ProcessorTime.ofThread
        let value = try body()
        return (value, ProcessorTime.ofThread - start)
    }

    /// Returns the peak signal-to-noise ratio in decibels; 0 for images of different sizes.
    static func likeness(of copy: PixelBuffer, to pixels: PixelBuffer) -> Double {
        // A file without alpha is that of pixels which are all opaque; others differ in their fourth bytes.
        guard copy.size == pixels.size, copy.alpha == pixels.alpha || copy.alpha == .opaque else { return 0 }
        let rowSize = 4 * pixels.size.width
        var sum = 0
        pixels.withUnsafeBytes { first in
            copy.withUnsafeBytes { second in
                for y in 0..<pixels.size.height {
                    let left = UnsafeRawBufferPointer(rebasing: first[(y * pixels.bytesPerRow)...].prefix(rowSize))
                    let right = UnsafeRawBufferPointer(rebasing: second[(y * copy.bytesPerRow)...].prefix(rowSize))
                    sum += squaredDistance(from: left, to: right)
                }
            }
        }
        let samples = Double(pixels.size.pixelCount * (pixels.alpha == .opaque ? 3 : 4))
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * samples / Double(sum))
    }

    private static func squaredDistance(from left: UnsafeRawBufferPointer, to right: UnsafeRawBufferPointer) -> Int {
        var sum: UInt32 = 0
        var total = 0
        for index in 0..<left.count {
            let distance = Int32(left[index]) - Int32(right[index])
            sum &+= UInt32(bitPattern: distance &* distance)
            // 2¹⁶ distances of at most 2¹⁶ each fit.
            if index & 0x7fff == 0x7fff { (total, sum) = (total + Int(sum), 0) }
        }
        return total + Int(sum)
    }
}
