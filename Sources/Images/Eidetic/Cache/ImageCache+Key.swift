import EideticCore

extension ImageCache {
    /// The key of an image: the name of its resource, and its rendering.
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

        /// Creates a key from a string literal.
        public init(stringLiteral text: String) { self.init(text) }

        fileprivate init(_ text: String, rendering: ImageRequest.Rendering, options: ImageOptions, isFromText: Bool) {
            self.text = text
            self.rendering = rendering
            self.isFromText = isFromText
            self.options = options.intersection(.affectingIdentity)
            imageKey = rendering.cacheKey(for: text, options: options)
            baseKey = rendering.transform == nil ? rendering.atFullSize.cacheKey(for: text, options: options) : nil
        }

        /// Returns whether two keys identify the same image.
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

        /// Returns the key of another rendering of the same resource, or with an option about frames of an animation.
        func with(rendering: ImageRequest.Rendering? = nil, frames: ImageOptions? = nil) -> Key {
            let others = options.subtracting([.preloadAllFrames, .firstFrameOnly])
            let options = frames.map { others.union($0) } ?? options
            return Key(text, rendering: rendering ?? self.rendering, options: options, isFromText: isFromText)
        }
    }

    /// Returns a key after the configuration's hook.
    func resolved(_ key: Key) -> Key {
        guard key.isFromText, let hook = configuration.keyHook else { return key }
        return Key(hook(key.text), rendering: key.rendering, options: key.options, isFromText: false)
    }
}
