/// Options of a load that differ from the default.
public struct ImageOptions: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    // MARK: Caches and sources

    /// Stores nothing on disk.
    public static let cacheMemoryOnly = ImageOptions(rawValue: 1 << 0)

    /// Uses caches only; if none has the image, the load fails with `cacheMiss`.
    public static let fromCacheOnly = ImageOptions(rawValue: 1 << 1)

    /// Ignores the caches when loading; the image is stored in them all the same.
    public static let fromLoaderOnly = ImageOptions(rawValue: 1 << 2)

    /// Delivers the image after its bytes are stored, with the error if that failed.
    public static let waitStoreCache = ImageOptions(rawValue: 1 << 3)

    /// Delivers the encoded bytes also with an image from memory.
    public static let queryMemoryData = ImageOptions(rawValue: 1 << 4)

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
    /// prefetch to memory, and in an ``ImageSlot``. An image that is decoded on use is not inserted into memory.
    public static let avoidDecode = ImageOptions(rawValue: 1 << 27)

    // MARK: Priority

    /// Sets the priority `low`.
    public static let lowPriority = ImageOptions(rawValue: 1 << 22)

    /// Sets the priority `high`.
    public static let highPriority = ImageOptions(rawValue: 1 << 23)

    // MARK: Display in a slot

    /// Shows the placeholder only after the load has failed.
    public static let delayPlaceholder = ImageOptions(rawValue: 1 << 16)

    /// Keeps the displayed image until the new one is loaded, instead of the placeholder.
    public static let keepCurrentImage = ImageOptions(rawValue: 1 << 17)

    /// Leaves it to the completion handler to show the image.
    public static let avoidAutoSetImage = ImageOptions(rawValue: 1 << 18)

    /// Lets the slot's earlier load continue; by default it is cancelled.
    public static let avoidAutoCancel = ImageOptions(rawValue: 1 << 19)

    /// Runs the transition also for an image from memory.
    public static let forceTransition = ImageOptions(rawValue: 1 << 20)

    /// Calls the completion handler after the transition.
    public static let waitTransition = ImageOptions(rawValue: 1 << 21)

    /// The options that change pixels, and so belong to the identity of a decoded image.
    static let affectingIdentity: ImageOptions = [
        .scaleDownLargeImages, .preloadAllFrames, .firstFrameOnly, .transformAnimatedImage, .transformVectorImage,
    ]

    static let affectingPriority: ImageOptions = [.lowPriority, .highPriority]

    /// The options that change how bytes are loaded: loads that differ in them share no download.
    static let affectingData: ImageOptions = [
        .cacheMemoryOnly, .allowInvalidCertificates, .retryFailed, .handleCookies,
    ]
}
