import EideticCodecs
import EideticFetch

/// A load: the request after processors and interceptors, and what follows from it.
///
/// A class, because each stage hands it along, and a copy of a request retains dozens of objects.
final class Load: Sendable {
    let request: ImageRequest
    let policy: LoadPolicy
    let dataKey: ImageRequest.DataKey

    init(_ request: ImageRequest, policy: LoadPolicy? = nil, dataKey: ImageRequest.DataKey? = nil) {
        self.request = request
        self.policy = policy ?? LoadPolicy(request)
        self.dataKey = dataKey ?? request.dataKey
    }

    /// Returns the load of the same image with other decisions.
    private func with(_ change: (inout LoadPolicy) -> Void) -> Load {
        var policy = policy
        change(&policy)
        return Load(request, policy: policy, dataKey: dataKey)
    }

    /// Returns the load of the same image from other tiers.
    func from(_ tiers: LoadTiers) -> Load { with { $0.tiers = tiers } }

    /// Returns the load that asks the server whether a displayed image is still valid.
    ///
    /// It decodes whatever the options: only bytes that have proved to be an image replace others.
    func validating(isReload: Bool) -> Load {
        with { policy in
            policy.tiers = .validated(isReload: isReload)
            policy.defersDecoding = false
            policy.showsPreviews = false
        }
    }

    /// A Boolean value indicating whether the calling task only moves files.
    ///
    /// It loads each once, and nobody uses the pixels: equal loads share their download and no other job.
    var movesFile: Bool { policy.defersDecoding && BlockingExecutor.current != nil }

    /// The request to the server as it is sent; `nil` if no server is needed.
    var server: FetchRequest? { request.server.map { policy.applied(to: $0) } }
}

/// The decisions that the options and the header fields of a request imply, made once for a load.
///
/// Those about pixels are made by ``RenditionPolicy``, which caches need as well.
struct LoadPolicy: Sendable {
    var tiers: LoadTiers
    let revalidates: Bool
    /// A Boolean value indicating whether a stale image that was delivered is revalidated afterwards.
    var refreshesStale: Bool { cachePolicy.search != .cachesOnly && tiers != .cacheOnlyAllowingStale }
    var requiresAnimation: Bool { options.contains(.matchAnimatedImage) }
    /// A Boolean value indicating whether the server may be another one, or knows the user by cookies.
    var isUnverified: Bool { !options.isDisjoint(with: [.allowInvalidCertificates, .handleCookies]) }
    let options: ImageOptions
    let cachePolicy: ImageRequest.CachePolicy
    var showsPreviews: Bool
    var defersDecoding: Bool
    let writesToDisk: Bool
    /// A Boolean value indicating whether the bytes may be stored in the shared tier: only what was decoded.
    var isShared: Bool { allowsSharing && !defersDecoding }
    private let allowsSharing: Bool
    let reads: ImageRequest.CachePolicy.Tiers
    let writes: ImageRequest.CachePolicy.Tiers
    /// The results of the downloader's hook for requests, which is called once for each server of the load.
    private let modifications = RequestModifications()
    /// The header fields of the request itself, whose directives the caches obey.
    let cacheFields: [HTTPField]

    init(_ request: ImageRequest) {
        options = request.options
        cachePolicy = request.cachePolicy
        tiers =
            switch cachePolicy.search {
            case _ where request.isOnlyIfCached: .cacheOnly
            case .cachesElseSource: .cacheElseSource
            case .cachesOnly: .cacheOnly
            case .sourceOnly: .sourceOnly
            }
        revalidates = options.contains(.refreshCached) && tiers == .cacheElseSource
        showsPreviews = options.contains(.progressive)
        defersDecoding = request.defersDecoding
        reads = request.reads
        writes = request.writes
        writesToDisk = request.resource.isStoredOnDisk && writes.contains(.original)
        allowsSharing = request.resource.isStoredOnDisk && writes.contains(.shared)
        cacheFields = request.cacheFields
    }

    /// Returns a request to a server with the settings that the options imply, besides its own.
    func applied(to server: FetchRequest) -> FetchRequest {
        var request = server
        if options.contains(.allowInvalidCertificates) { request.allowsInvalidCertificates = true }
        if options.contains(.retryFailed) { request.ignoresFailureList = true }
        if options.contains(.handleCookies) { request.usesCookies = true }
        request.keepsPart = writes.contains(.original)
        request.modifications = modifications
        return request
    }

    /// Returns whether an image is what the options require: an animation.
    func accepts(_ image: Image) -> Bool { !requiresAnimation || image.isAnimated }

    /// Checks that an image is animated if the options require it.
    func check(_ image: Image) throws(EideticError) {
        guard !accepts(image) else { return }
        throw EideticError(
            .unsupportedFormat,
            message: "an animated image was requested, and this \(image.format) has one frame"
        )
    }
}

extension ImageRequest {
    /// A Boolean value indicating whether a cached image is delivered, and then revalidated.
    package var revalidatesCached: Bool { LoadPolicy(self).revalidates }
}

// MARK: Loads without a suspension
extension LoadPolicy {
    /// Returns whether an image in memory may be the whole response to a request.
    static func mayEndInMemory(_ request: ImageRequest) -> Bool {
        request.cachePolicy.search != .sourceOnly && !request.cachePolicy.includesBytes
            && !request.options.contains(.refreshCached)
    }
}

/// The tiers that a load may use; loads that differ in it are never coalesced.
enum LoadTiers: Hashable {
    /// The disk cache, then the source.
    case cacheElseSource
    /// The disk cache only, as far as its entry is fresh.
    case cacheOnly
    case sourceOnly
    /// The disk cache only, also if its entry is stale: the caller revalidates it afterwards.
    case cacheOnlyAllowingStale
    /// The source, which may confirm the entry on disk.
    ///
    /// For a reload, caches on the way have to revalidate their responses as well; a fresh entry that never changes is
    /// not revalidated then.
    case validated(isReload: Bool)

    var isValidation: Bool { if case .validated = self { true } else { false } }
    var isReload: Bool { self == .validated(isReload: true) }
    var allowsSource: Bool { self == .cacheElseSource || self == .sourceOnly || isValidation }
    /// A Boolean value indicating whether what other loads have in memory, or have derived, may be used.
    var allowsMemory: Bool { self != .sourceOnly && !isValidation }
}

/// The decisions about the pixels of an image: how it is decoded, and what it is transformed by.
struct RenditionPolicy: Sendable {
    let options: DecodeOptions
    var decodePolicy = DecodePolicy.inProcess
    /// The server of the image; `nil` if it is on none.
    var origin: Origin?
    private var transform: (any ImageTransform)?
    private let transformsAnimations: Bool
    private let transformsVectorImages: Bool

    init(_ rendering: ImageRequest.Rendering, options: ImageOptions, name: String, scaleDownLimit: ByteCount) {
        var decode = rendering.decodeOptions(for: options, byteLimit: scaleDownLimit)
        decode.scale = rendering.scale ?? ImageScale.scale(fromName: name)
        self.options = decode
        transform = rendering.transform
        streamsAnimations = decode.frames == .first && !options.contains(.firstFrameOnly)
        transformsAnimations = options.contains(.transformAnimatedImage)
        transformsVectorImages = options.contains(.transformVectorImage)
    }

    /// A Boolean value indicating whether the frames of an animation are decoded when they are shown, instead of the
    /// first one alone or all of them.
    let streamsAnimations: Bool

    /// Returns the options for the bytes of an image: a transform that begins with a size has it decoded to that size.
    func options(header: () throws(EideticError) -> ImageHeader?) -> DecodeOptions {
        guard options.size == nil, let target = transform?.neededTarget else { return options }
        guard let header = try? header(), applies(to: header) else { return options }
        var options = options
        options.target = target
        return options
    }

    private func applies(to header: ImageHeader) -> Bool {
        let isAnimated = (options.frames == .all || streamsAnimations) && header.frameCount > 1
        return (!isAnimated || transformsAnimations) && (header.format != .svg || transformsVectorImages)
    }

    /// Returns the same decisions with another transform.
    func with(_ transform: any ImageTransform) -> RenditionPolicy {
        var policy = self
        policy.transform = transform
        return policy
    }

    /// The transform of each frame of an animation that is decoded frame by frame.
    var animationTransform: (any ImageTransform)? { transformsAnimations ? transform : nil }

    /// Returns the transform if it applies to `image`; animations and vector images need an option for it.
    ///
    /// The frames of an animation that is decoded frame by frame are transformed by their decoder.
    func transform(for image: Image) -> (any ImageTransform)? {
        guard image.streamed == nil else { return nil }
        guard !image.isAnimated || transformsAnimations, image.format != .svg || transformsVectorImages else {
            return nil
        }
        return transform
    }
}
