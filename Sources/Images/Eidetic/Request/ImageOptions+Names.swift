extension ImageOptions {
    /// Every option with its name, as a command line writes it.
    package static let names: [(name: String, option: ImageOptions)] = [
        ("allowInvalidCertificates", .allowInvalidCertificates),
        ("avoidAutoCancel", .avoidAutoCancel),
        ("avoidAutoSetImage", .avoidAutoSetImage),
        ("avoidDecode", .avoidDecode),
        ("cacheMemoryOnly", .cacheMemoryOnly),
        ("continueInBackground", .continueInBackground),
        ("delayPlaceholder", .delayPlaceholder),
        ("firstFrameOnly", .firstFrameOnly),
        ("forceTransition", .forceTransition),
        ("fromCacheOnly", .fromCacheOnly),
        ("fromLoaderOnly", .fromLoaderOnly),
        ("handleCookies", .handleCookies),
        ("highPriority", .highPriority),
        ("keepCurrentImage", .keepCurrentImage),
        ("lowPriority", .lowPriority),
        ("matchAnimatedImage", .matchAnimatedImage),
        ("preloadAllFrames", .preloadAllFrames),
        ("progressive", .progressive),
        ("queryMemoryData", .queryMemoryData),
        ("refreshCached", .refreshCached),
        ("retryFailed", .retryFailed),
        ("scaleDownLargeImages", .scaleDownLargeImages),
        ("transformAnimatedImage", .transformAnimatedImage),
        ("transformVectorImage", .transformVectorImage),
        ("waitStoreCache", .waitStoreCache),
        ("waitTransition", .waitTransition),
    ]

    /// Creates the option with a name; `nil` if there is none.
    package init?(named name: String) {
        guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
        self = known.option
    }
}
