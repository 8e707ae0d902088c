import EideticCodecs
import EideticCLI
import EideticCore

/// The options of `convert` for the form of the written file.
enum EncodingOptions {
    static let format = TypedOption<ImageFormat>(
        "format",
        placeholder: "NAME",
        expecting: "the name of a format such as png",
        help: "the format to write (default: by the file extension, or the image's own)",
        completion: .words(ImageEncoder.supportedFormats.map(\.rawValue)),
        parse: { ImageFormat(name: $0) }
    )

    static let maximumByteCount = TypedOption<ByteCount>(
        "max-bytes",
        placeholder: "SIZE",
        expecting: "a size such as 200KB",
        help: "lower the quality, and of PNG and GIF the size in pixels, until the file has at most this size",
        parse: { text in ByteCount(parsing: text).flatMap { $0 > .zero ? $0 : nil } }
    )

    static let maximumSize = TypedOption<PixelSize>(
        "max-size",
        placeholder: "WxH",
        expecting: "a size such as 640x480",
        help: "scale the result of all changes down to at most this many pixels, in its proportions",
        parse: { PixelSize(parsing: $0) }
    )

    static let metadata = TypedOption<MetadataPolicy>(
        "metadata",
        placeholder: "keep|no-gps|color|strip",
        expecting: "keep, no-gps, color or strip",
        help:
            "keep EXIF, XMP and the colour profile of the image; all but the position; the profile alone; or none of them "
            + "(default: strip; with --in-place keep). An unchanged JPEG is not encoded again for color and strip",
        completion: .words(MetadataPolicy.allCases.map(\.rawValue)),
        parse: { MetadataPolicy(rawValue: $0) }
    )

    static let background = TypedOption<ImageColor>(
        "background",
        placeholder: "COLOUR",
        expecting: "a colour such as #ffcc00",
        help: "the colour below transparent parts in JPEG (default: white)",
        parse: { ImageColor(hex: $0) }
    )

    static let progressive = Option(name: "progressive", help: "write JPEG in several scans, coarse at first")

    /// All of these options, in the order of the help texts.
    static let all = [
        format.definition, CommonOptions.quality.definition, maximumByteCount.definition, maximumSize.definition,
        metadata.definition, background.definition, progressive,
    ]

    /// Returns the options on a command line; without the metadata, which belong to each file.
    static func options(from arguments: Arguments) -> EncodeOptions {
        var options = EncodeOptions()
        options.quality = arguments[CommonOptions.quality] ?? options.quality
        options.maximumByteCount = arguments[maximumByteCount]
        options.maximumSize = arguments[maximumSize]
        options.background = arguments[background] ?? options.background
        options.isProgressive = arguments.contains(progressive)
        return options
    }
}

/// A choice of what happens to the metadata of a converted file.
enum MetadataPolicy: String, CaseIterable {
    /// EXIF, XMP and the colour profile.
    case keep
    /// The same without the position where the image was taken.
    case withoutPosition = "no-gps"
    /// The colour profile alone.
    case color
    /// Neither metadata nor profile.
    case strip

    /// Returns what is kept of the metadata of a file; `nil` for none.
    func applied(to metadata: ImageMetadata) -> ImageMetadata? {
        switch self {
        case .keep: metadata
        case .withoutPosition: metadata.withoutPosition
        case .color: ImageMetadata(iccProfile: metadata.iccProfile)
        case .strip: nil
        }
    }
}
