internal import EideticCodecs
public import EideticCore
import EideticFetch
public import struct FoundationEssentials.URL

/// A request for an image: the resource, the rendering, and the options of its load.
///
/// Creating a request prepares its identity, so that a look-up in memory takes some nanoseconds: keep requests that are
/// used often.
public struct ImageRequest: Sendable, Hashable {
    /// The place that the bytes come from.
    public let resource: Resource

    /// The size and changes of the image.
    public let rendering: Rendering

    /// The options of the load.
    public let options: ImageOptions

    /// The priority at the start of the load; `normal` by default.
    public var priority: LoadPriority

    /// The names of query items that do not identify the image, as those of a signature.
    ///
    /// They are sent, and left out of the identity. `*` at the end of a name stands for any ending.
    public let ignoredQueryItems: Set<String>

    /// The identity of the bytes.
    let resourceKey: String

    /// The identity of the decoded image: that of the bytes, and everything that changes a pixel.
    let imageKey: CacheKey

    /// The identity of the image in any size; `nil` if other sizes cannot stand in for this one.
    let baseKey: CacheKey?

    /// A Boolean value indicating whether an image in memory satisfies the directives of the request's own fields.
    ///
    /// Its age is not known there, so those that limit it are a matter of the disk cache.
    let allowsMemory: Bool

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - resource: The place that the bytes come from.
    ///   - rendering: The size and changes of the image; by default there are none.
    ///   - priority: The priority; `normal` by default. The options `lowPriority` and `highPriority` override it.
    ///   - options: The options of the load; none by default.
    ///   - ignoredQueryItems: The names of query items that do not identify the image; none by default.
    public init(
        _ resource: Resource,
        rendering: Rendering = Rendering(),
        priority: LoadPriority = .normal,
        options: ImageOptions = [],
        ignoredQueryItems: Set<String> = []
    ) {
        self.resource = resource
        self.rendering = rendering
        self.priority = options.contains(.highPriority) ? .high : options.contains(.lowPriority) ? .low : priority
        // A required animation implies all frames.
        let needsFrames = options.contains(.matchAnimatedImage) && !options.contains(.firstFrameOnly)
        self.options = needsFrames ? options.union(.preloadAllFrames) : options
        self.ignoredQueryItems = ignoredQueryItems
        resourceKey =
            resource.identity(ignoringQueryItems: ignoredQueryItems) + resource.identitySuffix(for: options)
        imageKey = rendering.cacheKey(for: resourceKey, options: self.options)
        allowsMemory = !resource.hasRemote { $0.limitsAge }
        let fullSize = rendering.atFullSize
        baseKey = rendering.transform == nil ? fullSize.cacheKey(for: resourceKey, options: self.options) : nil
    }

    /// Creates a request for a URL given as text.
    ///
    /// - Throws: `invalidURL` if images cannot be loaded from it.
    public init(
        _ url: String,
        size: PixelSize? = nil,
        contentMode: ContentMode = .fit,
        priority: LoadPriority = .normal,
        options: ImageOptions = []
    ) throws(EideticError) {
        let rendering = Rendering(size: size, contentMode: contentMode)
        self.init(try Resource(url: url), rendering: rendering, priority: priority, options: options)
    }

    /// Creates a request for a URL.
    ///
    /// - Throws: `invalidURL` if images cannot be loaded from it.
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

    /// Creates a request with the identity of another one, and a different resource.
    private init(_ request: ImageRequest, resource: Resource) {
        self.resource = resource
        (rendering, options, priority) = (request.rendering, request.options, request.priority)
        (ignoredQueryItems, allowsMemory) = (request.ignoredQueryItems, request.allowsMemory)
        (resourceKey, imageKey, baseKey) = (request.resourceKey, request.imageKey, request.baseKey)
    }

    /// The URL, or the name of a resource that has none.
    public var name: String { resource.name }

    /// Returns a request for the same resource with other settings; those not given stay as they are.
    ///
    /// - Parameters:
    ///   - rendering: The new rendering.
    ///   - options: The new options.
    ///   - priority: The new priority. Without it the priority changes only if `options` adds or removes `lowPriority`
    ///     or `highPriority`.
    /// - Returns: The request with these settings.
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
        let changed = request.options.symmetricDifference(self.options)
        let changesPriority = !changed.isDisjoint(with: .affectingPriority)
        request.priority = priority ?? (changesPriority ? request.priority : self.priority)
        return request
    }

    /// Returns whether two requests ask for the same image with the same options; priorities may differ.
    public static func == (left: ImageRequest, right: ImageRequest) -> Bool {
        left.imageKey == right.imageKey && left.options == right.options && left.resourceKey == right.resourceKey
    }

    /// Feeds the identity of the image to `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }
}

// MARK: Loading
extension ImageRequest {
    /// The identity of a load of bytes: loads that differ in it share neither a download nor unstored bytes.
    struct DataKey: Hashable {
        let resourceKey: String
        let options: ImageOptions
        let remotes: [FetchRequest]
    }

    var dataKey: DataKey {
        let options = options.intersection(.affectingData)
        return DataKey(resourceKey: resourceKey, options: options, remotes: resource.remotes)
    }

    /// A Boolean value indicating whether cookies are sent, by which a server may tell its users apart.
    var usesCookies: Bool { resource.hasRemote { options.contains(.handleCookies) || $0.usesCookies } }

    /// Returns the request for the servers after the given one; `nil` if it is the last.
    func fallback(after server: FetchRequest) -> ImageRequest? {
        guard case .firstOf(let servers) = resource, let index = servers.firstIndex(of: server),
            index + 1 < servers.count
        else { return nil }
        return ImageRequest(self, resource: .firstOf(Array(servers[(index + 1)...])))
    }

    /// A Boolean value indicating whether pixels are decoded only when they are used.
    var defersDecoding: Bool {
        options.contains(.avoidDecode) && !options.contains(.preloadAllFrames) && rendering.transform == nil
    }

    /// The request without `avoidDecode`.
    var decodingImmediately: ImageRequest {
        options.contains(.avoidDecode) ? with(options: options.subtracting(.avoidDecode), priority: priority) : self
    }
}
