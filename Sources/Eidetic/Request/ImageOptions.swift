/// What a request wants done differently from the default (L06).
public struct ImageOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates options from bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    // MARK: Where from and where to

    /// Nothing is stored on disk.
    public static let cacheMemoryOnly = ImageOptions(rawValue: 1 << 0)

    /// The network is never asked; a picture that no cache has is the error `cacheMiss`.
    public static let fromCacheOnly = ImageOptions(rawValue: 1 << 1)

    /// No cache is asked; what comes is stored all the same.
    public static let fromLoaderOnly = ImageOptions(rawValue: 1 << 2)

    /// The answer comes after the picture is stored, and says whether that failed.
    public static let waitStoreCache = ImageOptions(rawValue: 1 << 3)

    /// The encoded bytes come with the picture also when it was in memory.
    public static let queryMemoryData = ImageOptions(rawValue: 1 << 4)

    /// The same, without a wait: a memory hit that is delivered at once blocks for the read from disk.
    public static let queryMemoryDataSync = ImageOptions(rawValue: 1 << 24)

    /// A picture on disk is delivered before the call returns, as one in memory is: the calling thread reads and decodes.
    public static let queryDiskDataSync = ImageOptions(rawValue: 1 << 25)

    /// Any certificate is accepted, for this request only; what comes is found by such requests alone.
    public static let allowInvalidCertificates = ImageOptions(rawValue: 1 << 5)

    /// A background task is open as long as the load goes on; when its time is used up, the load ends as cancelled.
    public static let continueInBackground = ImageOptions(rawValue: 1 << 6)

    /// The cached picture is delivered, however stale, then the server is asked whether it has changed.
    public static let refreshCached = ImageOptions(rawValue: 1 << 7)

    /// The server is asked although the URL failed for good before, and again after a transport failure.
    public static let retryFailed = ImageOptions(rawValue: 1 << 14)

    /// Cookies are sent, and kept in the downloader's jar; otherwise there are none.
    ///
    /// What comes is found by such requests alone, and not kept on disk where it depends on them (`Vary: Cookie`).
    public static let handleCookies = ImageOptions(rawValue: 1 << 15)

    /// Partial pictures are shown while the bytes come.
    ///
    /// A download that is begun so is not gone on with where it broke off; with `retryFailed`, or a downloader that always
    /// retries, it is begun anew. Who joins a download that was begun without this option sees no partial pictures.
    public static let progressive = ImageOptions(rawValue: 1 << 26)

    // MARK: How it is decoded

    /// The decoded bytes are limited, to 60 MB unless the configuration says otherwise; part of the identity.
    public static let scaleDownLargeImages = ImageOptions(rawValue: 1 << 8)

    /// All frames of an animation are decoded into memory; otherwise the first one only.
    public static let preloadAllFrames = ImageOptions(rawValue: 1 << 9)

    /// The first frame only, also together with `preloadAllFrames`.
    public static let firstFrameOnly = ImageOptions(rawValue: 1 << 10)

    /// All frames, as with `preloadAllFrames`; a picture with a single frame is the error `unsupportedFormat`.
    ///
    /// So is every picture together with `firstFrameOnly`. With `refreshCached`, a cached picture that has one frame counts as
    /// none, and a new one that has one frame is kept for the next time, while this load gives the
    /// cached animation once more.
    public static let matchAnimatedImage = ImageOptions(rawValue: 1 << 11)

    /// The transform is applied to animated pictures too, frame by frame.
    public static let transformAnimatedImage = ImageOptions(rawValue: 1 << 12)

    /// The transform is applied to vector pictures too.
    public static let transformVectorImage = ImageOptions(rawValue: 1 << 13)

    /// The picture is delivered without being decoded: its head is read, and its pixels are made when they are used.
    ///
    /// Nothing is gained, and so it is decoded as ever, where pixels are asked for anyway: with a transform, with
    /// `preloadAllFrames`, for a prefetch to memory, and in an ``ImageSlot``. What is decoded late does not go into memory.
    public static let avoidDecode = ImageOptions(rawValue: 1 << 27)

    // MARK: How urgent it is

    /// The same as the priority `low`.
    public static let lowPriority = ImageOptions(rawValue: 1 << 22)

    /// The same as the priority `high`.
    public static let highPriority = ImageOptions(rawValue: 1 << 23)

    // MARK: How a slot shows it

    /// The placeholder is shown only after the load has failed or ended without a picture.
    public static let delayPlaceholder = ImageOptions(rawValue: 1 << 16)

    /// What is shown stays until the new picture is there, instead of the placeholder.
    public static let keepCurrentImage = ImageOptions(rawValue: 1 << 17)

    /// The picture is not shown; the completion does that.
    public static let avoidAutoSetImage = ImageOptions(rawValue: 1 << 18)

    /// The slot's earlier load is not cancelled.
    public static let avoidAutoCancel = ImageOptions(rawValue: 1 << 19)

    /// The transition runs also for a picture that was in memory.
    public static let forceTransition = ImageOptions(rawValue: 1 << 20)

    /// The completion is called after the transition.
    public static let waitTransition = ImageOptions(rawValue: 1 << 21)

    /// The options that change pixels, and so belong to the identity of a decoded picture.
    static let affectingIdentity: ImageOptions = [
        .scaleDownLargeImages, .preloadAllFrames, .firstFrameOnly, .transformAnimatedImage, .transformVectorImage,
    ]

    static let affectingPriority: ImageOptions = [.lowPriority, .highPriority]

    /// The options that change how the original is brought, so that those who differ in them share no download.
    static let affectingData: ImageOptions = [
        .cacheMemoryOnly, .allowInvalidCertificates, .retryFailed, .handleCookies,
    ]
}
