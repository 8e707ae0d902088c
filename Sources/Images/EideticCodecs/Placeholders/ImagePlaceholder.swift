public import EideticCore

/// Small descriptions of an image, which stand for it until it is loaded.
public struct ImagePlaceholder: Hashable, Sendable {
    private let thumbHashBytes: [UInt8]
    /// The BlurHash, of 4 × 3 components.
    public let blurHash: String
    /// The colour of the largest area of like colours.
    public let dominantColor: ImageColor

    /// Creates the descriptions of an image.
    ///
    /// - Throws: `outOfMemory`.
    /// - Complexity: O(*n*) in the pixels for a reduction to 48 pixels each way; what follows takes the same time for
    ///   every image.
    public init(of pixels: PixelBuffer) throws(EideticError) {
        let sample = try pixels.sample(side: 48)
        thumbHashBytes = try ThumbHash.encode(sample)
        blurHash = try BlurHash.encode(sample)
        dominantColor = try sample.dominantColor()
    }

    /// Returns the blurred image, of at most 32 × 32 pixels, which a view enlarges.
    ///
    /// - Throws: `outOfMemory`.
    public func image() throws(EideticError) -> Image { Image(placeholder: try ThumbHash.decode(thumbHashBytes)) }

    /// The ThumbHash as a server sends it, in Base64; it has the proportions and the alpha of the image.
    public var thumbHash: String { Base64.encode(thumbHashBytes) }

    /// The descriptions as one word of printable characters without a space.
    package var word: String { "\(thumbHash)!\(blurHash)!\(dominantColor)" }

    /// Creates the descriptions from their word; `nil` for any other text.
    package init?(word: String) {
        let parts = word.split(separator: "!", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let bytes = Base64.decode(parts[0]), let color = ImageColor(hex: parts[2]),
            (try? ThumbHash.decode(bytes)) != nil,
            (try? BlurHash.decode(parts[1], size: PixelSize(width: 1, height: 1))) != nil
        else { return nil }
        thumbHashBytes = bytes
        blurHash = parts[1]
        dominantColor = color
    }
}

extension Image {
    /// Creates an image that stands for another one.
    fileprivate init(placeholder pixels: PixelBuffer) {
        self.init(frames: [Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
    }

    /// Returns the blurred image of a BlurHash, as a server sends it.
    ///
    /// - Parameters:
    ///   - text: The hash.
    ///   - size: The size in pixels, at most 512 each way; 32 × 32 by default, which a view enlarges.
    /// - Returns: `nil` if the text is no BlurHash.
    public static func blurHash(_ text: String, size: PixelSize = PixelSize(width: 32, height: 32)) -> Image? {
        (try? BlurHash.decode(text, size: size)).map { Image(placeholder: $0) }
    }

    /// Returns the blurred image of a ThumbHash in Base64, as a server sends it.
    ///
    /// - Parameter text: The hash; its alphabet may be that for URLs, and its padding may be left out.
    /// - Returns: `nil` if the text is no ThumbHash.
    public static func thumbHash(_ text: String) -> Image? {
        Base64.decode(text).flatMap { try? ThumbHash.decode($0) }.map { Image(placeholder: $0) }
    }

    /// Returns an image of one pixel of a colour, which a view enlarges; `nil` if there is no memory for it.
    public static func color(_ color: ImageColor) -> Image? {
        let (bytes, size) = (color.premultiplied, PixelSize(width: 1, height: 1))
        let pixel = SIMD4(bytes[0], bytes[1], bytes[2], bytes[3])
        let pixels = try? PixelBuffer(size: size, alpha: color.alpha == 255 ? .opaque : .premultiplied) { _ in pixel }
        return pixels.map { Image(placeholder: $0) }
    }
}
