import EideticCore

extension ImageCache {
    /// What a picture is kept under: the name of its original, and how it is made of that.
    ///
    /// Making a key hashes its text; asking the memory cache by it takes some nanoseconds then.
    public struct Key: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// The name of the original.
        public let text: String

        /// How the picture is made of the original.
        public let rendering: ImageRequest.Rendering

        /// What else changes its pixels.
        public let options: ImageOptions

        /// The identity of the decoded picture.
        package let imageKey: CacheKey

        /// The identity of the picture in whatever size; `nil` where other sizes say nothing about this one.
        let baseKey: CacheKey?

        /// Whether the key hook may change the text.
        let isFromText: Bool

        /// The key of a picture that is made in some way of what `text` names.
        public init(_ text: String, rendering: ImageRequest.Rendering = .init(), options: ImageOptions = []) {
            self.init(text, rendering: rendering, options: options, isFromText: true)
        }

        /// The key of the picture that a pipeline makes for a request.
        ///
        /// Where the picture is there in several files (``ImageOrigin/variants(_:)``) each file has a key of its own, that
        /// of a request for it; this one names none of them.
        public init(_ request: ImageRequest) {
            self.init(request.resourceKey, rendering: request.rendering, options: request.options, isFromText: false)
        }

        /// The key that a literal stands for.
        public init(stringLiteral text: String) { self.init(text) }

        private init(_ text: String, rendering: ImageRequest.Rendering, options: ImageOptions, isFromText: Bool) {
            (self.text, self.rendering, self.isFromText) = (text, rendering, isFromText)
            self.options = options.intersection(.affectingIdentity)
            imageKey = rendering.cacheKey(for: text, options: options)
            baseKey = rendering.transform == nil ? rendering.atFullSize.cacheKey(for: text, options: options) : nil
        }

        /// Keys are equal when they stand for the same picture.
        public static func == (left: Key, right: Key) -> Bool { left.imageKey == right.imageKey }

        /// Feeds the identity to `hasher`.
        public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }

        /// The key under which the picture itself is on disk, apart from its original.
        var renditionText: String { rendering.cacheKeyText(for: text, options: options) }

        /// Whether it stands for the original as it is.
        var isFullImage: Bool { renditionText == text }

        /// The same original, made in another way.
        func with(rendering: ImageRequest.Rendering) -> Key {
            Key(text, rendering: rendering, options: options, isFromText: isFromText)
        }

        /// The key after the hook.
        func applying(_ hook: (@Sendable (String) -> String)?) -> Key {
            guard isFromText, let hook else { return self }
            return Key(hook(text), rendering: rendering, options: options, isFromText: false)
        }
    }

    /// The key as it is used here.
    func resolved(_ key: Key) -> Key { key.applying(configuration.keyHook) }
}
