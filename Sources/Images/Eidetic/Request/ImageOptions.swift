/// The ways in which a load downloads and decodes other than by default.
///
/// The use of caches is the ``ImageRequest/CachePolicy``, the urgency the `LoadPriority`, and what a view shows the
/// `ImageSlot.Presentation`.
public struct ImageOptions: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    // MARK: Transport

    /// Accepts any certificate for this request; the image is shared only with requests that do so too.
    public static let allowInvalidCertificates = ImageOptions(rawValue: 1 << 5)

    /// Opens a background task for the load; when its time is used up, the load is cancelled.
    ///
    /// With `ImagePipeline.Configuration.transfers`, its download then goes on in another process.
    public static let continueInBackground = ImageOptions(rawValue: 1 << 6)

    /// Delivers the cached image, however stale, then revalidates it with its server.
    public static let refreshCached = ImageOptions(rawValue: 1 << 7)

    /// Ignores the list of failed URLs, and retries after a transport failure.
    public static let retryFailed = ImageOptions(rawValue: 1 << 14)

    /// Sends cookies, and stores those of the response in the downloader's jar; by default there are none.
    ///
    /// The image is shared only with requests that do so too, and is not stored on disk if it depends on cookies
    /// (`Vary: Cookie`).
    public static let handleCookies = ImageOptions(rawValue: 1 << 15)

    /// Delivers partial images while bytes are received.
    ///
    /// An animation plays as soon as its first frame has arrived. With `retryFailed`, or a downloader that always
    /// retries, a download that breaks off is resumed where it stopped, if the server allows that. A load that joins a
    /// download without this option gets no partial images.
    public static let progressive = ImageOptions(rawValue: 1 << 26)

    // MARK: Decoding

    /// Limits the decoded bytes, by default to 60 MB; part of the identity.
    public static let scaleDownLargeImages = ImageOptions(rawValue: 1 << 8)

    /// Decodes all frames of an animation into memory before it is delivered.
    ///
    /// By default the first frame is decoded, and the others while the animation plays (`Image.animation`).
    public static let preloadAllFrames = ImageOptions(rawValue: 1 << 9)

    /// Delivers the first frame as a still image; overrides `preloadAllFrames`.
    public static let firstFrameOnly = ImageOptions(rawValue: 1 << 10)

    /// Decodes all frames, and fails with `unsupportedFormat` if there is only one.
    ///
    /// Together with `firstFrameOnly` every load fails. With `refreshCached` a cached image with one frame counts as a
    /// miss; a new image with one frame is stored, while the response has the cached animation once more.
    public static let matchAnimatedImage = ImageOptions(rawValue: 1 << 11)

    /// Applies the transform to animations too, frame by frame.
    public static let transformAnimatedImage = ImageOptions(rawValue: 1 << 12)

    /// Applies the transform to vector images too.
    public static let transformVectorImage = ImageOptions(rawValue: 1 << 13)

    /// Delivers the image without decoding it: its header is read, and its pixels are decoded when they are used.
    ///
    /// The option has no effect where pixels are needed anyway: with a transform, with `preloadAllFrames`, for a
    /// prefetch to memory, and in an `ImageSlot`. An image that is decoded on use is not inserted into memory.
    public static let avoidDecode = ImageOptions(rawValue: 1 << 27)

    /// Delivers a damaged or truncated image as far as it can be decoded; `Image.isPartial` says so.
    ///
    /// As in browsers, which show what they have. Of JPEG, PNG, GIF, WebP, BMP, ICO and TIFF the rows that are there
    /// are delivered, of JPEG XL a coarse image, of an animation the frames before the damage. A partial image is kept
    /// in memory only. By default it is an error, `truncated` or `corrupt`.
    public static let allowsPartial = ImageOptions(rawValue: 1 << 28)

    /// The options that change pixels, and so belong to the identity of a decoded image.
    static let affectingIdentity: ImageOptions = [
        .scaleDownLargeImages, .preloadAllFrames, .firstFrameOnly, .transformAnimatedImage, .transformVectorImage,
        .allowsPartial,
    ]

    /// The options that change how bytes are loaded: loads that differ in them share no download.
    static let affectingData: ImageOptions = [.allowInvalidCertificates, .retryFailed, .handleCookies]
}
