import EideticCore
import Glibc

/// The encoder of one format; ``ImageEncoder`` selects one by ``format``.
protocol FormatEncoder: SendableMetatype {
    static var format: ImageFormat { get }

    /// A Boolean value indicating whether all frames of an animation are encoded, instead of the first one alone.
    static var isAnimated: Bool { get }

    /// The scale of qualities; `nil` for a lossless format.
    static var qualityScale: QualityScale? { get }

    /// Encodes an image; an animation only if ``isAnimated`` is true.
    ///
    /// - Parameters:
    ///   - image: The image, whose pixels are decoded.
    ///   - quality: The quality, from 0 to 1; at most that of the options.
    ///   - options: The form of the file.
    /// - Returns: The file.
    /// - Throws: `encodingFailed`, `unsupportedFormat` if a library is missing, or `outOfMemory`.
    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8]
}

/// A scale of qualities on which the logarithm of the file's size is nearly a straight line.
struct QualityScale: Sendable {
    /// The growth of the logarithm of the size along the scale, for photographs.
    let slope: Double
    /// The part of a byte limit that is aimed at: less for an encoder whose steps are coarse.
    let aim: Double
    let position: @Sendable (_ quality: Double) -> Double
    let quality: @Sendable (_ position: Double) -> Double

    static let steps = QualityScale(slope: 4, aim: 0.95, position: { $0 }, quality: { $0 })
}

/// The output of a C encoder: bytes allocated by `malloc`, or an error message.
struct EncoderOutput: ~Copyable {
    var base: UnsafeMutablePointer<UInt8>?
    var count = 0
    var message = [CChar](repeating: 0, count: 256)

    deinit { free(base) }

    var array: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    /// Returns an error with the encoder's message.
    func error(format: StaticString, isOutOfMemory: Bool) -> EideticError {
        let text = message.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        return EideticError(isOutOfMemory ? .outOfMemory : .encodingFailed, message: "\(format): \(text)")
    }
}
