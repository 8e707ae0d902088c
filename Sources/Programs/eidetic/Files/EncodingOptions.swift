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
        help: "lower the quality, or for PNG and GIF the size in pixels, until the file has at most this size",
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
        placeholder: "keep|no-gps|color|strip|NAME,…",
        expecting: "keep, no-gps, color or strip, or of \(MetadataPolicy.names.joined(separator: ", "))",
        help:
            "keep EXIF, XMP and the colour profile; all but the position; only the profile; nothing; or only the named "
            + "items, of \(MetadataPolicy.names.joined(separator: ", ")) (default: strip; with --in-place "
            + "keep). A JPEG without other changes is encoded again only with keep",
        completion: .words(["keep", "no-gps", "color", "strip"] + MetadataPolicy.names),
        parse: { MetadataPolicy(parsing: $0) }
    )

    static let background = TypedOption<ImageColor>(
        "background",
        placeholder: "COLOUR",
        expecting: "a colour such as #ffcc00",
        help: "the colour behind transparent parts in JPEG (default: white)",
        parse: { ImageColor(hex: $0) }
    )

    static let colors = TypedOption<Int>(
        "colors",
        in: 2...256,
        expecting: "a number of colours from 2 to 256",
        help: "the largest number of colours of a PNG or GIF; more are reduced by libimagequant, with dithering"
    )

    static let progressive = Option(name: "progressive", help: "write JPEG in several scans, coarse at first")

    /// All of these options, in the order of the help texts.
    static let all = [
        format.definition, CommonOptions.quality.definition, maximumByteCount.definition, maximumSize.definition,
        colors.definition, metadata.definition, background.definition, progressive,
    ]

    /// Returns the options on a command line; without the metadata, which belong to each file.
    static func options(from arguments: Arguments) -> EncodeOptions {
        var options = EncodeOptions()
        options.quality = arguments[CommonOptions.quality] ?? options.quality
        options.maximumByteCount = arguments[maximumByteCount]
        options.maximumSize = arguments[maximumSize]
        options.maximumColorCount = arguments[colors]
        options.background = arguments[background] ?? options.background
        options.isProgressive = arguments.contains(progressive)
        return options
    }
}

/// A choice of what happens to the metadata of a converted file.
enum MetadataPolicy: Sendable, Equatable {
    /// EXIF, XMP and the colour profile.
    case keep
    /// The same without the position where the image was taken.
    case withoutPosition
    /// The colour profile alone.
    case color
    /// Neither metadata nor profile.
    case strip
    /// The parts of these names alone.
    case named(Set<String>)

    /// The names of parts: tags of EXIF as `inspect` shows them, the position, the packet of XMP, and the profile.
    static let names = MetadataFacts.tags.map(\.name) + ["gps", "xmp", "profile"]

    /// Creates a policy from the word on a command line; `nil` if it is unknown.
    init?(parsing text: String) {
        switch text {
        case "keep": self = .keep
        case "no-gps": self = .withoutPosition
        case "color": self = .color
        case "strip": self = .strip
        default:
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard names.allSatisfy(Self.names.contains) else { return nil }
            self = .named(Set(names))
        }
    }

    /// Returns what is kept of the metadata of a file; `nil` for none.
    func applied(to metadata: ImageMetadata) -> ImageMetadata? {
        switch self {
        case .keep: return metadata
        case .withoutPosition: return metadata.withoutPosition
        case .color: return ImageMetadata(iccProfile: metadata.iccProfile)
        case .strip: return nil
        case .named(let names):
            let tags = MetadataFacts.tags.filter { names.contains($0.name) }.map(\.number)
            var kept = metadata.keeping(tags: Set(tags), keepsPosition: names.contains("gps"))
            if names.contains("xmp") { kept.xmp = metadata.xmp }
            if names.contains("profile") { kept.iccProfile = metadata.iccProfile }
            return kept
        }
    }
}
