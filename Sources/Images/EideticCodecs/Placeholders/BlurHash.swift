package import EideticCore
import Glibc

/// BlurHash: the colours of an image, blurred, in some 28 characters.
///
/// - SeeAlso: The algorithm at https://github.com/woltapp/blurhash.
package enum BlurHash {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8
    )

    /// Returns the hash of an image; transparent parts count as black.
    ///
    /// - Parameters:
    ///   - pixels: The pixels. Large images are scaled down first.
    ///   - components: The number of components across and down, from 1 to 9 each; 4 and 3 by default.
    /// - Returns: The hash, of 4 + 2*n* characters for *n* components.
    /// - Throws: `invalidArgument` if a number of components is out of range, `outOfMemory`.
    package static func encode(
        _ pixels: PixelBuffer,
        components: PixelSize = PixelSize(width: 4, height: 3)
    ) throws(EideticError) -> String {
        guard (1...9).contains(components.width), (1...9).contains(components.height) else {
            throw EideticError(
                .invalidArgument,
                message: "BlurHash: \(components) components; each way has from 1 to 9"
            )
        }
        let pixels = try pixels.premultiplied().sample(side: 100)
        let linear = linearTable
        let values = pixels.map { SIMD4(linear[Int($0.x)], linear[Int($0.y)], linear[Int($0.z)], 0) }
        let means = CosineSums(size: pixels.size, count: components, isCentred: false).means(of: values)
        return text(of: means.flatMap(\.self), components: components)
    }

    private static func text(of means: [SIMD4<Double>], components: PixelSize) -> String {
        let channels = (0..<3).map { channel in means.map { $0[channel] } }
        let largest = channels.flatMap { $0.dropFirst() }.map { 2 * abs($0) }.max() ?? 0
        let level = min(max(Int((largest * 166 - 0.5).rounded(.down)), 0), 82)
        let limit = Double(level + 1) / 166
        let isPlain = channels[0].count == 1
        var characters = digits(of: components.width - 1 + (components.height - 1) * 9, count: 1)
        characters += digits(of: isPlain ? 0 : level, count: 1)
        characters += digits(of: channels.reduce(0) { $0 << 8 | byte(ofLinear: $1[0]) }, count: 4)
        for index in channels[0].indices.dropFirst() {
            let steps = channels.map { step(of: 2 * $0[index] / limit) }
            characters += digits(of: (steps[0] * 19 + steps[1]) * 19 + steps[2], count: 2)
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Returns the blurred image of a hash.
    ///
    /// - Parameters:
    ///   - text: The hash.
    ///   - size: The size in pixels; 32 × 32 by default, which a view enlarges.
    ///   - punch: The factor of the contrast; 1 by default.
    /// - Returns: The blurred image.
    /// - Throws: `invalidArgument` if the text is no BlurHash, the size is out of range (1 to 512 each way), or `punch`
    ///   is not finite.
    package static func decode(
        _ text: String,
        size: PixelSize = PixelSize(width: 32, height: 32),
        punch: Double = 1
    ) throws(EideticError) -> PixelBuffer {
        guard (1...512).contains(size.width), (1...512).contains(size.height), punch.isFinite else {
            throw EideticError(.invalidArgument, message: "BlurHash: \(size) or punch \(punch) is out of range")
        }
        guard let (count, colours) = components(of: text, punch: punch) else {
            throw EideticError(.invalidArgument, message: "\"\(text.prefix(200))\" is not a BlurHash")
        }
        let sums = CosineSums(size: size, count: count, isCentred: false)
        return try PixelBuffer(size: size, alpha: .opaque) { target, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    var colour = SIMD3<Double>.zero
                    for (index, component) in colours.enumerated() {
                        colour += component * sums.weight((index % count.width, index / count.width), at: (x, y))
                    }
                    let pixel = (0..<3).map { UInt8(byte(ofLinear: colour[$0])) }
                    let bytes = SIMD4(pixel[0], pixel[1], pixel[2], 255)
                    target.storeBytes(of: bytes, toByteOffset: y * stride + 4 * x, as: SIMD4<UInt8>.self)
                }
            }
        }
    }

    /// Returns the components of a hash, linear, those after the first with their sign; `nil` if it is none.
    private static func components(of text: String, punch: Double) -> (PixelSize, [SIMD3<Double>])? {
        let values = text.utf8.prefix(167).map { alphabet.firstIndex(of: $0) ?? -1 }
        guard values.count >= 6, !values.contains(-1), values[0] < 81 else { return nil }
        let count = PixelSize(width: values[0] % 9 + 1, height: values[0] / 9 + 1)
        guard values.count == 4 + 2 * count.pixelCount else { return nil }
        let limit = Double(values[1] + 1) / 166 * punch
        let mean = values[2..<6].reduce(0) { $0 * 83 + $1 }
        guard mean < 1 << 24 else { return nil }
        var colours = [SIMD3(linearTable[mean >> 16], linearTable[mean >> 8 & 255], linearTable[mean & 255])]
        for index in stride(from: 6, to: values.count, by: 2) {
            let value = values[index] * 83 + values[index + 1]
            guard value < 19 * 19 * 19 else { return nil }
            colours.append(limit * SIMD3(part(of: value / 361), part(of: value / 19 % 19), part(of: value % 19)))
        }
        return (count, colours)
    }

    private static func digits(of value: Int, count: Int) -> [UInt8] {
        var value = value
        var digits: [UInt8] = []
        for _ in 0..<count {
            digits.insert(alphabet[value % 83], at: 0)
            value /= 83
        }
        return digits
    }

    /// Returns the step, 0 to 18, of a component from -1 to 1: steps near 0 are finer.
    private static func step(of part: Double) -> Int {
        let root = abs(part).squareRoot()
        return min(max(Int(((part < 0 ? -root : root) * 9 + 9.5).rounded(.down)), 0), 18)
    }

    private static func part(of step: Int) -> Double {
        let root = Double(step - 9) / 9
        return root < 0 ? -root * root : root * root
    }

    /// The linear values of the 256 values of sRGB.
    private static let linearTable = (0..<256).map { value in
        let part = Double(value) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }

    private static func byte(ofLinear value: Double) -> Int {
        let value = min(max(value, 0), 1)
        let part = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return Int(part * 255 + 0.5)
    }
}

extension PixelBuffer {
    /// Returns the pixels of an image that is scaled down to at most `side` pixels each way.
    func sample(side: Int) throws(EideticError) -> PixelBuffer {
        try Resampler.resample(self, to: size.scaled(to: PixelSize(width: side, height: side), mode: .fit))
    }

    /// Returns the results of a function for all pixels, row by row.
    func map<Value>(_ transform: (SIMD4<UInt8>) -> Value) -> [Value] {
        withUnsafeBytes { bytes in
            Array(unsafeUninitializedCapacity: size.pixelCount) { values, count in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let pixel = bytes.loadUnaligned(fromByteOffset: y * bytesPerRow + 4 * x, as: SIMD4<UInt8>.self)
                        values.initializeElement(at: count, to: transform(pixel))
                        count += 1
                    }
                }
            }
        }
    }
}
