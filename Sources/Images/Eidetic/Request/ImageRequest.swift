public import EideticCore
import EideticFetch
public import EideticHTTP
public import struct FoundationEssentials.URL

/// A request for an image: the resource, the rendering, and the options of its load.
///
/// A request is a value: changing a property also changes the image's key. For another size make a copy:
/// `var small = request; small.size = size`. The key is computed when a request is created or changed, so that a
/// look-up in memory takes some nanoseconds: keep requests that are used often.
///
/// Creating a request never fails. Loading an invalid URL fails with `invalidURL`, and loading an unreadable file fails
/// with the error of reading it.
public struct ImageRequest: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The place that the bytes come from.
    public var resource: Resource { didSet { updateIdentity() } }

    /// The size and changes of the image.
    public var rendering: Rendering { didSet { updateIdentity() } }

    /// The options of the load.
    ///
    /// Adding `matchAnimatedImage` adds `preloadAllFrames`.
    public var options: ImageOptions {
        didSet {
            options = options.withImpliedOptions
            updateIdentity()
        }
    }

    /// The priority at the start of the load; `normal` by default.
    ///
    /// A load with the priority `low` waits while the user scrolls.
    public var priority: LoadPriority

    /// The names of query items that do not identify the image, such as a signature; none by default.
    ///
    /// They are sent to the server, but are not part of the key. `*` at the end of a name matches any suffix.
    public var ignoredQueryItems: Set<String> { didSet { updateIdentity() } }

    /// The key of the bytes; `nil`, the default, derives it from the resource.
    ///
    /// It identifies the image in memory and on disk, and for coalescing equal loads. Equal keys must mean equal
    /// images, whatever their URLs, header fields and credentials: a key for an image that only one user may see must
    /// name the user. `ImagePipeline.Configuration.requestProcessors` can set it for all requests. `ImageCache.Key`
    /// finds the image by the same text. A changed local file is another image, even with the same key.
    public var cacheKey: String? { didSet { updateIdentity() } }

    /// The way the load uses the caches; ``CachePolicy/standard`` by default.
    ///
    /// Responses to methods other than `GET` are cached only with a ``cacheKey``, because the server may respond
    /// differently each time (RFC 9111, section 2).
    public var cachePolicy: CachePolicy { didSet { updateIdentity() } }

    /// The process in which the image is decoded; `nil`, the default, uses the pipeline's policy.
    ///
    /// It is not part of the key: an image in memory is used however it was decoded.
    public var decodePolicy: DecodePolicy?

    private var identity = Identity.none

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - resource: The place that the bytes come from.
    ///   - rendering: The size and changes of the image; by default there are none.
    ///   - priority: The priority; `normal` by default.
    ///   - options: The options of the load; none by default.
    ///   - cachePolicy: The use of the caches.
    ///   - ignoredQueryItems: The names of query items that do not identify the image; none by default.
    public init(
        _ resource: Resource,
        rendering: Rendering = Rendering(),
        priority: LoadPriority = .normal,
        options: ImageOptions = [],
        cachePolicy: CachePolicy = .standard,
        ignoredQueryItems: Set<String> = []
    ) {
        self.resource = resource
        self.rendering = rendering
        self.options = options.withImpliedOptions
        self.priority = priority
        self.cachePolicy = cachePolicy
        self.ignoredQueryItems = ignoredQueryItems
        updateIdentity()
    }

    /// Creates a request for a URL given as text: with the scheme `http`, `https`, `file` or `data`.
    public init(
        _ url: String,
        size: PixelSize? = nil,
        contentMode: ContentMode = .fit,
        priority: LoadPriority = .normal,
        options: ImageOptions = [],
        cachePolicy: CachePolicy = .standard
    ) {
        let (resource, rendering) = (Resource(url: url), Rendering(size: size, contentMode: contentMode))
        self.init(resource, rendering: rendering, priority: priority, options: options, cachePolicy: cachePolicy)
    }

    /// Creates a request for a URL from a string literal.
    public init(stringLiteral url: String) { self.init(Resource(url: url)) }

    /// Creates a request for a URL: with the scheme `http`, `https`, `file` or `data`.
    public init(
        url: URL,
        size: PixelSize? = nil,
        contentMode: ContentMode = .fit,
        priority: LoadPriority = .normal,
        options: ImageOptions = [],
        cachePolicy: CachePolicy = .standard
    ) {
        let (resource, rendering) = (Resource(url: url.absoluteString), Rendering(size: size, contentMode: contentMode))
        self.init(resource, rendering: rendering, priority: priority, options: options, cachePolicy: cachePolicy)
    }

    /// The size in upright pixels at which the image is displayed; `nil`, the default, for its full size.
    public var size: PixelSize? {
        get { rendering.size }
        set { rendering.size = newValue }
    }

    /// The header fields of the request to the server; empty by default.
    ///
    /// They replace the downloader's fields of the same names, and are part of the key. Setting them has no effect for
    /// a local resource.
    public var headers: HTTPHeaders {
        get { server?.headers ?? [:] }
        set {
            guard case .remote(var remote) = resource.kind else { return }
            remote.headers = newValue
            resource = .remote(remote)
        }
    }

    /// The URL, or the name of a resource that has none.
    public var name: String { resource.name }

    /// Returns a request for the same resource with other settings; those not given stay as they are.
    package func with(
        rendering: Rendering? = nil,
        options: ImageOptions? = nil,
        priority: LoadPriority? = nil,
        cachePolicy: CachePolicy? = nil
    ) -> ImageRequest {
        var request = self
        if let options { request.options = options }
        if let rendering { request.rendering = rendering }
        if let priority { request.priority = priority }
        if let cachePolicy { request.cachePolicy = cachePolicy }
        return request
    }

    /// Returns whether two requests load the same image in the same way; priorities and decoding processes may differ.
    public static func == (left: ImageRequest, right: ImageRequest) -> Bool {
        left.imageKey == right.imageKey && left.options == right.options && left.resourceKey == right.resourceKey
            && left.cachePolicy == right.cachePolicy
    }

    /// Feeds the identity of the image to `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }
}

// MARK: Identity
extension ImageRequest {
    /// The keys that are prepared from the other properties.
    private struct Identity {
        var resourceKey = ""
        var imageKey = CacheKey(forProcess: "")
        var baseKey: CacheKey?
        var allowsMemory = false
        var reads: CachePolicy.Tiers = []
        var writes: CachePolicy.Tiers = []

        /// The keys of a request that is not complete yet.
        static let none = Identity()
    }

    private mutating func updateIdentity() {
        let name =
            cacheKey.map { $0 + resource.versionSuffix } ?? resource.identity(ignoringQueryItems: ignoredQueryItems)
        let resourceKey = name + resource.identitySuffix(for: options)
        let fullSize = rendering.atFullSize
        let isCacheable = cacheKey != nil || !resource.hasRemote { !$0.isGet }
        let reads: CachePolicy.Tiers = isCacheable ? cachePolicy.reads : []
        identity = Identity(
            resourceKey: resourceKey,
            imageKey: rendering.cacheKey(for: resourceKey, options: options),
            baseKey: rendering.transform == nil ? fullSize.cacheKey(for: resourceKey, options: options) : nil,
            allowsMemory: reads.contains(.memory) && !resource.hasRemote { $0.limitsAge },
            reads: reads,
            writes: isCacheable ? cachePolicy.writes : []
        )
    }

    /// The caches that the load may read, after its method.
    var reads: CachePolicy.Tiers { identity.reads }

    /// The caches that the load may write, after its method.
    var writes: CachePolicy.Tiers { identity.writes }

    var resourceKey: String { identity.resourceKey }

    /// The identity of the decoded image: that of the bytes, and everything that changes a pixel.
    var imageKey: CacheKey { identity.imageKey }

    /// The identity of the image in any size; `nil` if other sizes cannot stand in for this one.
    var baseKey: CacheKey? { identity.baseKey }

    /// A Boolean value indicating whether an image in memory may be used, and satisfies the directives of the request's
    /// own fields.
    ///
    /// Its age is not known there, so those that limit it are a matter of the disk cache.
    var allowsMemory: Bool { identity.allowsMemory }
}

extension ImageOptions {
    /// A Boolean value indicating whether more than the first frame of an animation is requested.
    var needsFrames: Bool { !contains(.firstFrameOnly) }

    /// The options with those that they imply: a required animation implies all frames.
    var withImpliedOptions: ImageOptions {
        contains(.matchAnimatedImage) && !contains(.firstFrameOnly) ? union(.preloadAllFrames) : self
    }
}

// MARK: Loading
extension ImageRequest {
    /// The identity of a load of bytes: loads that differ in it share neither a download nor unstored bytes.
    ///
    /// A class, because each look-up copies it.
    final class DataKey: Hashable, Sendable {
        private let resourceKey: String
        private let options: ImageOptions
        private let remote: FetchRequest?
        private let reads: CachePolicy.Tiers
        private let writes: CachePolicy.Tiers

        init(of request: ImageRequest) {
            let encoded: CachePolicy.Tiers = [.original, .shared]
            resourceKey = request.resourceKey
            options = request.options.intersection(.affectingData)
            remote = request.resource.remote
            reads = request.reads.intersection(encoded)
            writes = request.writes.intersection(encoded)
        }

        static func == (left: DataKey, right: DataKey) -> Bool {
            left === right
                || left.resourceKey == right.resourceKey && left.options == right.options && left.reads == right.reads
                    && left.writes == right.writes && left.remote == right.remote
        }

        /// Feeds the key of the resource into the hasher, because few loads differ in anything else only.
        func hash(into hasher: inout Hasher) { hasher.combine(resourceKey) }
    }

    var dataKey: DataKey { DataKey(of: self) }

    /// A Boolean value indicating whether cookies are sent, by which a server may tell its users apart.
    var usesCookies: Bool { resource.hasRemote { options.contains(.handleCookies) || $0.usesCookies } }

    /// The name of the host in lower case; `nil` if the resource is not on a server.
    var hostName: String? { server.flatMap { URL(string: $0.url)?.host?.lowercased() } }

    /// A Boolean value indicating whether pixels are decoded only when they are used.
    var defersDecoding: Bool {
        options.contains(.avoidDecode) && !options.contains(.preloadAllFrames) && rendering.transform == nil
    }

    package var decodingImmediately: ImageRequest {
        options.contains(.avoidDecode) ? with(options: options.subtracting(.avoidDecode)) : self
    }
}
