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
