import EideticCore

extension ImageCache {
    /// The key of an image: the name of its resource, and the rendering that is made from it.
    ///
    /// Creating a key hashes its text; a look-up in memory with an existing key takes some nanoseconds.
    public struct Key: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// The name of the resource.
        package let text: String

        /// The size and changes of the image.
        package let rendering: ImageRequest.Rendering

        /// The options that change pixels.
        package let options: ImageOptions

        /// The identity of the decoded image.
        package let imageKey: CacheKey

        /// The identity of the image in any size; `nil` if other sizes cannot stand in for this one.
        let baseKey: CacheKey?

        /// A Boolean value indicating whether the key hook may change the text.
        let isFromText: Bool

        /// Creates the key of a rendering of the resource that `text` names.
        public init(_ text: String, rendering: ImageRequest.Rendering = .init(), options: ImageOptions = []) {
            self.init(text, rendering: rendering, options: options, isFromText: true)
        }

        /// Creates the key of the image that a pipeline loads for a request.
        public init(_ request: ImageRequest) {
            let (rendering, options) = (request.rendering, request.options)
            self.init(request.resourceKey, rendering: rendering, options: options, isFromText: false)
        }

        /// Creates the key that a string literal stands for.
        public init(stringLiteral text: String) { self.init(text) }

        private init(_ text: String, rendering: ImageRequest.Rendering, options: ImageOptions, isFromText: Bool) {
            (self.text, self.rendering, self.isFromText) = (text, rendering, isFromText)
            self.options = options.intersection(.affectingIdentity)
            imageKey = rendering.cacheKey(for: text, options: options)
            baseKey = rendering.transform == nil ? rendering.atFullSize.cacheKey(for: text, options: options) : nil
        }

        /// Returns whether two keys stand for the same image.
        public static func == (left: Key, right: Key) -> Bool { left.imageKey == right.imageKey }

        /// Feeds the identity of the image to `hasher`.
        public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }

        /// The name of the image on disk if it is stored without the bytes of its resource; an animation has one name,
        /// whichever of its frames are decoded.
        var renditionText: String {
            rendering.cacheKeyText(for: text, options: options.subtracting([.preloadAllFrames, .firstFrameOnly]))
        }

        /// A Boolean value indicating whether the image is the resource itself, unchanged.
        var isFullImage: Bool { renditionText == text }

        /// The names under which the disk may have the image, in the order of the search.
        var diskKeys: [String] { isFullImage ? [text] : [renditionText, text] }

        /// Returns the key of another rendering of the same resource.
        func with(rendering: ImageRequest.Rendering) -> Key {
            Key(text, rendering: rendering, options: options, isFromText: isFromText)
        }

        /// The key of the first frame alone.
        var ofFirstFrame: Key {
            let options = options.subtracting(.preloadAllFrames).union(.firstFrameOnly)
            return Key(text, rendering: rendering, options: options, isFromText: isFromText)
        }

        /// The key of the animation as it is requested without an option.
        var ofAnimation: Key {
            let options = options.subtracting([.preloadAllFrames, .firstFrameOnly])
            return Key(text, rendering: rendering, options: options, isFromText: isFromText)
        }

        /// The key of all frames.
        var ofAllFrames: Key {
            let options = options.subtracting(.firstFrameOnly).union(.preloadAllFrames)
            return Key(text, rendering: rendering, options: options, isFromText: isFromText)
        }

        /// Returns the key with the text that `hook` returns for its own.
        func applying(_ hook: (@Sendable (String) -> String)?) -> Key {
            guard isFromText, let hook else { return self }
            return Key(hook(text), rendering: rendering, options: options, isFromText: false)
        }
    }

    /// Returns a key after the configuration's hook.
    func resolved(_ key: Key) -> Key { key.applying(configuration.keyHook) }
}
