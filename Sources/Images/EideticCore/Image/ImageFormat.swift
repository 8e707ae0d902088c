/// A file format of images: one of this package, or one of a custom codec.
public struct ImageFormat: Sendable, Hashable {
    /// The position in the table of formats.
    private let index: UInt8

    private init(index: UInt8) { self.index = index }

    /// Creates a format for a custom `ImageCodecPlugin`; equal names are the same format.
    ///
    /// A process can create up to 200 formats.
    ///
    /// - Parameters:
    ///   - name: The name in lower case, which must differ from those of the formats of this package.
    ///   - mimeType: The media type for a `Content-Type` field.
    ///   - fileExtension: The usual file name extension, without the dot; by default the name.
    public init(name: String, mimeType: String, fileExtension: String? = nil) {
        let entry = FormatTable.Entry(name: name, mimeType: mimeType, fileExtension: fileExtension ?? name)
        index = FormatTable.index(ofOwn: entry)
    }

    /// Creates the format with a name; `nil` if this process knows none.
    package init?(named name: String) {
        guard let index = FormatTable.index(named: name) else { return nil }
        self.index = index
    }

    /// The name, such as `jpeg` or `png`.
    package var rawValue: String { FormatTable.entry(at: index).name }

    /// The media type for a `Content-Type` field.
    public var mimeType: String { FormatTable.entry(at: index).mimeType }

    /// The usual file name extension, without the dot.
    public var fileExtension: String { FormatTable.entry(at: index).fileExtension }

    /// JPEG, ISO/IEC 10918.
    public static let jpeg = ImageFormat(index: 0)
    /// PNG and APNG.
    public static let png = ImageFormat(index: 1)
    /// GIF 87a and 89a.
    public static let gif = ImageFormat(index: 2)
    /// WebP.
    public static let webp = ImageFormat(index: 3)
    /// TIFF.
    public static let tiff = ImageFormat(index: 4)
    /// HEIF with HEVC.
    public static let heic = ImageFormat(index: 5)
    /// HEIF with AV1.
    public static let avif = ImageFormat(index: 6)
    /// Windows and OS/2 bitmaps.
    public static let bmp = ImageFormat(index: 7)
    /// Windows icons and cursors.
    public static let ico = ImageFormat(index: 8)
    /// Scalable Vector Graphics.
    public static let svg = ImageFormat(index: 9)
    /// JPEG XL, ISO/IEC 18181.
    public static let jpegxl = ImageFormat(index: 10)

    /// The result of looking at the first bytes of a file.
    package enum Detection: Sendable, Hashable {
        /// The bytes are the beginning of an image of this format.
        case format(ImageFormat)
        /// The format cannot be determined yet; at most 4,096 bytes are necessary, except for SVG with a long prologue.
        case needsMoreBytes
        /// The bytes are not the beginning of an image of a known format.
        case unknown
    }

    /// The largest number of bytes that detection needs, except for SVG with a long prologue.
    package static let maximumSignatureLength = 4_096

    /// Detects a format by its content, never by a name.
    ///
    /// The formats of this package come before those of users.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes of the file or stream.
    ///   - isComplete: `true` if no more bytes follow. The result is then never `needsMoreBytes`.
    /// - Returns: The format, or the reason why it is not known.
    /// - Complexity: O(1), except for text that may be SVG.
    package static func detect(in bytes: UnsafeRawBufferPointer, isComplete: Bool = false) -> Detection {
        let signature = ImageSignature(bytes: bytes)
        if let format = signature.format { return .format(format) }
        switch OwnSignatures.detect(in: bytes) {
        case .format(let format): return .format(format)
        case .needsMoreBytes: if !isComplete { return .needsMoreBytes }
        case .unknown: break
        }
        return signature.needsMoreBytes && !isComplete ? .needsMoreBytes : .unknown
    }

    /// Detects a format by its content.
    package static func detect(in bytes: [UInt8], isComplete: Bool = false) -> Detection {
        bytes.withUnsafeBytes { detect(in: $0, isComplete: isComplete) }
    }
}

extension ImageFormat: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }

    package static var allCases: [ImageFormat] { FormatTable.standard.indices.map { ImageFormat(index: UInt8($0)) } }

    /// Returns the format of this package with a name; `nil` if there is none.
    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }
}
