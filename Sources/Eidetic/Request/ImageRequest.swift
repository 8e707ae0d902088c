internal import EideticCodecs
public import EideticCore
import EideticFetch
public import struct FoundationEssentials.URL

/// Which picture is wanted, how large, and how.
///
/// Making a request prepares its identity, so that asking the memory cache for it later costs some nanoseconds: keep
/// requests that are asked for often.
public struct ImageRequest: Sendable, Hashable {
    /// Where the bytes come from.
    public let resource: ImageResource

    /// How the picture is to be made of the bytes.
    public let rendering: Rendering

    /// What is to be done differently from the default.
    public let options: ImageOptions

    /// How urgent the picture is at first; `normal` by default.
    public var priority: LoadPriority

    /// Names of query items that change while the picture stays the same, as those of a signature.
    ///
    /// They are sent, and left out of the identity. `*` at the end of a name stands for any ending.
    public let ignoredQueryItems: Set<String>

    /// The identity of the original's bytes.
    let resourceKey: String

    /// The identity of the decoded picture: the original's, and all that changes a pixel.
    let imageKey: CacheKey

    /// The identity of the picture in whatever size; `nil` where other sizes say nothing about this one.
    let baseKey: CacheKey?

    /// Creates a request.
    public init(
        _ origin: ImageResource,
        rendering: Rendering = Rendering(),
        priority: LoadPriority = .normal,
        options: ImageOptions = [],
        ignoredQueryItems: Set<String> = []
    ) {
        self.resource = origin
        self.rendering = rendering
        self.priority = options.contains(.highPriority) ? .high : options.contains(.lowPriority) ? .low : priority
        // Who asks for an animation wants its frames.
        let wantsFrames = options.contains(.matchAnimatedImage) && !options.contains(.firstFrameOnly)
        self.options = wantsFrames ? options.union(.preloadAllFrames) : options
        self.ignoredQueryItems = ignoredQueryItems
        resourceKey = origin.identity(ignoringQueryItems: ignoredQueryItems) + origin.identitySuffix(for: options)
        imageKey = rendering.cacheKey(for: resourceKey, options: self.options)
        baseKey =
            rendering.transform == nil ? rendering.atFullSize.cacheKey(for: resourceKey, options: self.options) : nil
    }

    /// Creates a request for a URL given as text; throws `invalidURL` where it is none that can be loaded.
    public init(
        _ url: String,
        size: PixelSize? = nil,
        contentMode: ContentMode = .fit,
        priority: LoadPriority = .normal,
        options: ImageOptions = []
    ) throws(EideticError) {
        let rendering = Rendering(size: size, contentMode: contentMode)
        self.init(try ImageResource(url: url), rendering: rendering, priority: priority, options: options)
    }

    /// Creates a request for a URL; throws `invalidURL` where it is none that can be loaded.
    public init(
        url: URL,
        size: PixelSize? = nil,
        contentMode: ContentMode = .fit,
        priority: LoadPriority = .normal,
        options: ImageOptions = []
    ) throws(EideticError) {
        let text = url.absoluteString
        try self.init(text, size: size, contentMode: contentMode, priority: priority, options: options)
    }

    /// The same picture with the same identity, from another origin.
    private init(_ other: ImageRequest, from origin: ImageResource) {
        self.resource = origin
        (rendering, options, priority) = (other.rendering, other.options, other.priority)
        ignoredQueryItems = other.ignoredQueryItems
        (resourceKey, imageKey, baseKey) = (other.resourceKey, other.imageKey, other.baseKey)
    }

    /// The same picture from the servers that are asked after this one; `nil` where there is none.
    func fallback(after remote: FetchRequest) -> ImageRequest? {
        guard case .firstOf(let all) = resource, let index = all.firstIndex(of: remote), index + 1 < all.count else {
            return nil
        }
        return ImageRequest(self, from: .firstOf(Array(all[(index + 1)...])))
    }

    /// Whether cookies are sent, by which a server may tell its users apart.
    var usesCookies: Bool { resource.hasRemote { options.contains(.handleCookies) || $0.usesCookies } }

    /// The URL, or another name where it comes from elsewhere.
    public var name: String { resource.name }

    /// The same picture, made in another way; as urgent as before, unless `priority` or new options say otherwise.
    public func with(
        rendering: Rendering? = nil,
        options: ImageOptions? = nil,
        priority: LoadPriority? = nil
    ) -> ImageRequest {
        var request = ImageRequest(
            resource,
            rendering: rendering ?? self.rendering,
            priority: self.priority,
            options: options ?? self.options,
            ignoredQueryItems: ignoredQueryItems
        )
        // What the options say of it holds only from when they say so.
        let isNew = !request.options.symmetricDifference(self.options).isDisjoint(with: .affectingPriority)
        request.priority = priority ?? (isNew ? request.priority : self.priority)
        return request
    }

    /// Whether its pixels are to be made only when somebody uses them.
    var defersDecoding: Bool {
        options.contains(.avoidDecode) && !options.contains(.preloadAllFrames) && rendering.transform == nil
    }

    /// The same, decoded.
    var decodingImmediately: ImageRequest {
        options.contains(.avoidDecode) ? with(options: options.subtracting(.avoidDecode), priority: priority) : self
    }

    /// What decides how the original is brought; who differs in it shares neither a download nor bytes under way.
    struct DataKey: Hashable {
        let original: String
        let options: ImageOptions
        let remotes: [FetchRequest]
    }

    var dataKey: DataKey {
        DataKey(original: resourceKey, options: options.intersection(.affectingData), remotes: resource.remotes)
    }

    /// Requests are equal when they want the same picture in the same way, however urgent.
    public static func == (left: ImageRequest, right: ImageRequest) -> Bool {
        left.imageKey == right.imageKey && left.options == right.options && left.resourceKey == right.resourceKey
    }

    /// Feeds the identity to `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }
}
