package import EideticCore

/// Options of several commands.
package enum CommonOptions {
    /// Output as one JSON object per line instead of text.
    package static let json = Option(name: "json", help: "write one JSON object per line")

    package static let overwrite = Option(name: "overwrite", help: "replace files that exist")

    /// Output of errors only.
    package static let quiet = Option(name: "quiet", letter: "q", help: "write errors only")

    package static let jobs = TypedOption<Int>(
        "jobs",
        letter: "j",
        otherName: "concurrency",
        in: 1...64,
        help:
            "work on N images at the same time (default: 6 downloads, at most 4 of them from one host; for files, the "
            + "number of processors)"
    )

    package static let size = TypedOption<PixelSize>(
        "size",
        placeholder: "WxH",
        expecting: "a size such as 640x480",
        help: "fit images into this many pixels, keeping their aspect ratio and never enlarging them; one side can be "
            + "omitted, as in 640x",
        parse: { PixelSize(parsing: $0) }
    )

    /// The quality of encoded images, from 0 to 1.
    package static let quality = TypedOption<Double>(
        "quality",
        placeholder: "Q",
        expecting: "a number from 0 to 100 (85, not 0.85)",
        help: "quality of a lossy format, from 0 to 100 (default: 85)",
        parse: { text in
            // Whoever writes 0.8 means 80.
            Double(text).flatMap { $0 == 0 || (1...100).contains($0) ? $0 / 100 : nil }
        }
    )

    /// The longest time of a download without a byte.
    package static let timeout = TypedOption<Duration>(
        "timeout",
        placeholder: "SECONDS",
        expecting: "a number of seconds from 0.1 to 86400",
        help: "give up a download that receives no byte for this time, or under 500 bytes/s for twice this time "
            + "(default: 15)",
        parse: { text in Double(text).flatMap { (0.1...86_400).contains($0) ? .seconds($0) : nil } }
    )

    package static let cacheDirectory = TypedOption<String>(
        "cache-dir",
        placeholder: "DIR",
        help: "the cache directory (default: eidetic/default in $CACHE_DIRECTORY, $XDG_CACHE_HOME or ~/.cache)",
        completion: .directories
    )

    /// A read-only directory that is searched after the disk cache.
    package static let bundle = TypedOption<String>(
        "bundle",
        placeholder: "DIR",
        help: "also search this read-only directory: images of an application, or an SDWebImage cache "
            + "(com.hackemist.SDWebImageCache.NAME); can be repeated",
        completion: .directories
    )

    /// The options that select the disk cache.
    package static var cacheOptions: [Option] { [cacheDirectory.definition, bundle.definition] }
}
