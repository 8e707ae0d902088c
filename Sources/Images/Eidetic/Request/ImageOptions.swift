/// Options for the download and the decoding of a load.
///
/// Related settings are ``ImageRequest/CachePolicy`` (use of the caches), `LoadPriority` (urgency), and
/// `ImageSlot.Presentation` (display in a view).
public struct ImageOptions: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    // MARK: Transport

    /// Accepts any certificate for this request; the image is cached separately from those of other requests.
    public static let allowInvalidCertificates = ImageOptions(rawValue: 1 << 5)

    /// Opens a background task for the load; when background time expires, the load is cancelled.
    ///
    /// With `ImagePipeline.Configuration.transfers`, the download then continues in another process.
    public static let continueInBackground = ImageOptions(rawValue: 1 << 6)

    /// Delivers the cached image, however stale, then revalidates it with its server.
    public static let refreshCached = ImageOptions(rawValue: 1 << 7)

    /// Ignores the failure list, and retries after temporary failures.
    public static let retryFailed = ImageOptions(rawValue: 1 << 14)

    /// Sends cookies, and stores those of the response in the downloader's cookie jar; off by default.
    ///
    /// The image is cached separately from those of requests without cookies. It is not stored on disk if it depends on
    /// cookies (`Vary: Cookie`).
    public static let handleCookies = ImageOptions(rawValue: 1 << 15)

    /// Delivers partial images while bytes are received.
    ///
    /// An animation plays as soon as its first frame has arrived. With `retryFailed`, or a downloader that always
    /// retries, an interrupted download is resumed if the server allows that. A load that joins a download without this
    /// option receives no partial images.
    public static let progressive = ImageOptions(rawValue: 1 << 26)

    // MARK: Decoding

    /// Limits the decoded size, to 60 MB by default (`scaleDownLimit`); part of the key.
    public static let scaleDownLargeImages = ImageOptions(rawValue: 1 << 8)

    /// Decodes all frames of an animation into memory before it is delivered.
    ///
    /// By default the first frame is decoded, and the others while the animation plays (`Image.animation`).
    public static let preloadAllFrames = ImageOptions(rawValue: 1 << 9)

    /// Delivers the first frame as a still image; overrides `preloadAllFrames`.
    public static let firstFrameOnly = ImageOptions(rawValue: 1 << 10)

    /// Decodes all frames, and fails with `unsupportedFormat` if there is only one.
    ///
    /// Together with `firstFrameOnly` every load fails. With `refreshCached`, a cached image with one frame counts as a
    /// miss. If the new image has only one frame, it is stored, but the response still contains the cached animation.
    public static let matchAnimatedImage = ImageOptions(rawValue: 1 << 11)

    /// Applies the transform to animations too, frame by frame.
    public static let transformAnimatedImage = ImageOptions(rawValue: 1 << 12)

    /// Applies the transform to vector images too.
    public static let transformVectorImage = ImageOptions(rawValue: 1 << 13)

    /// Delivers the image without decoding it: only its header is read; the pixels are decoded on first use.
    ///
    /// The option has no effect where pixels are needed anyway: with a transform, with `preloadAllFrames`, for a
    /// prefetch to memory, and in an `ImageSlot`. An image that is decoded on use is not inserted into memory.
    public static let avoidDecode = ImageOptions(rawValue: 1 << 27)

    /// Delivers a damaged or truncated image as far as it can be decoded; `Image.isPartial` says so.
    ///
    /// This is what browsers do. JPEG, PNG, GIF, WebP, BMP, ICO and TIFF deliver the available rows, JPEG XL a coarse
    /// image, and animations the frames before the damage. A partial image is kept in memory only. Without this option
    /// the load fails with `truncated` or `corrupt`.
    public static let allowsPartial = ImageOptions(rawValue: 1 << 28)

    /// The options that change pixels, and so belong to the identity of a decoded image.
    static let affectingIdentity: ImageOptions = [
        .scaleDownLargeImages, .preloadAllFrames, .firstFrameOnly, .transformAnimatedImage, .transformVectorImage,
        .allowsPartial,
    ]

    /// The options that change how bytes are loaded: loads that differ in them share no download.
    static let affectingData: ImageOptions = [.allowInvalidCertificates, .retryFailed, .handleCookies]
}

extension ImageOptions {
    /// Every option with its name, as a command line writes it.
    package static let names: [(name: String, option: ImageOptions)] = [
        ("allowInvalidCertificates", .allowInvalidCertificates),
        ("allowsPartial", .allowsPartial),
        ("avoidDecode", .avoidDecode),
        ("continueInBackground", .continueInBackground),
        ("firstFrameOnly", .firstFrameOnly),
        ("handleCookies", .handleCookies),
        ("matchAnimatedImage", .matchAnimatedImage),
        ("preloadAllFrames", .preloadAllFrames),
        ("progressive", .progressive),
        ("refreshCached", .refreshCached),
        ("retryFailed", .retryFailed),
        ("scaleDownLargeImages", .scaleDownLargeImages),
        ("transformAnimatedImage", .transformAnimatedImage),
        ("transformVectorImage", .transformVectorImage),
    ]

    /// Creates the option with a name; `nil` if there is none.
    package init?(named name: String) {
        guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
        self = known.option
    }
}
