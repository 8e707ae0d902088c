import EideticCore

/// Options that several commands have.
enum CommonOptions {
    /// One JSON object a line instead of text.
    static let json = Option(name: "json", help: "write one JSON object a line")

    /// The size into which pictures are fitted.
    static let size = TypedOption<PixelSize>(
        "size",
        "WxH",
        expecting: "a size such as 640x480",
        help: "fit pictures into this many pixels, keeping their proportions and never enlarging them; one side may be "
            + "left out, as in 640x",
        read: { PixelSize(parsing: $0) }
    )

    /// How good an encoded picture is to be.
    static let quality = TypedOption<Double>(
        "quality",
        "Q",
        expecting: "a number from 0 to 100",
        help: "how good a lossy format is to be, from 0 to 100 (85 where not given)",
        read: { text in Double(text).flatMap { (0...100).contains($0) ? $0 / 100 : nil } }
    )

    /// Where the cache is.
    static let cacheDirectory = TypedOption<String>(
        "cache-dir",
        "DIR",
        help: "the cache's directory (by default ~/.cache/eidetic/default)",
        completion: .directories
    )
}
