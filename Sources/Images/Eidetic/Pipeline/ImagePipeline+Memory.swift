public import EideticCore
import EideticStore

/// The memory cache, searched before anything else: synchronously, on the caller's thread.
extension ImagePipeline {
    /// Returns the image if it is in memory; returns at once, on any thread.
    ///
    /// For a `file:` URL this is the image of the file as the latest load found it.
    ///
    /// - Complexity: O(1), with one short lock and without allocation. The configuration's request processors are
    ///   called as well.
    public func cachedImage(for request: ImageRequest) -> Image? {
        // A copy of the request would take longer than the look-up.
        if processors.isEmpty, localFiles.newest(of: request.resource) == nil { return memory.hit(for: request) }
        return cachedImage(for: prepare(request))
    }

    /// Returns the largest image of the same bytes in memory, whatever its size.
    ///
    /// It can be shown until the requested image is loaded.
    package func cachedPreview(for request: ImageRequest) -> Image? { cachedPreview(for: prepare(request)) }

    /// Returns the image in memory of a load; see ``cachedImage(for:)``.
    package func cachedImage(for load: PreparedLoad) -> Image? { examined(load).flatMap { memory.hit(for: $0) } }

    /// Returns the largest image in memory of a load; see ``cachedPreview(for:)``.
    package func cachedPreview(for load: PreparedLoad) -> Image? {
        examined(load)?.baseKey.flatMap { memory.largestImage(forBase: $0) }
    }

    /// Returns the image of a load that the disk has, however stale; `nil` if it has none that can be decoded.
    package func storedPreview(for load: PreparedLoad) async -> Image? {
        guard let request = try? load.processed(), request.resource.isStoredOnDisk else { return nil }
        let load = Load(request).from(.cacheOnlyAllowingStale)
        return try? await imageLoader.response(to: load, context: JobContext(priority: request.priority)).image
    }

    /// Returns the request of a load with the state of its file that the newest load found, which may be outdated.
    private func examined(_ load: PreparedLoad) -> ImageRequest? {
        guard var request = try? load.processed() else { return nil }
        if let file = localFiles.newest(of: request.resource) { request.resource = ImageRequest.Resource(.file(file)) }
        return request
    }
}

// MARK: Hits
extension ImagePipeline {
    /// Returns the image in memory that completes the load of a request; `nil` if the load needs more.
    ///
    /// The awaited forms of a load call it first: it neither suspends nor allocates.
    package func completingHit(for request: ImageRequest) -> Image? {
        guard !hasInterceptors, LoadPolicy.mayEndInMemory(request), let image = memory.hit(for: request),
            !request.options.contains(.matchAnimatedImage) || image.isAnimated
        else { return nil }
        guard request.cachePolicy.waitsForStorage else { return image }
        return dataLoader.unstoredImage(for: request) == nil ? image : nil
    }

    /// Returns the response of a load that memory completes, and counts it; otherwise, `nil`.
    package func completingResponse(to load: PreparedLoad) -> ImageResponse? {
        let timer = StepTimer()
        guard let image = load.withRequest({ completingHit(for: $0) }) else { return nil }
        let response = ImageResponse(image, source: .memory, steps: [timer.step(.memory, detail: "hit")])
        counters.countLoad()
        counters.count(response)
        return response
    }
}

extension ImageMemoryCache {
    func hit(for request: ImageRequest) -> Image? { request.allowsMemory ? decodedImage(for: request.imageKey) : nil }

    /// Returns the image with the most of a request's transforms, those that are missing, and the time until it
    /// expires; `nil` if there is none, or memory must not be read.
    func base(
        of request: ImageRequest,
        by policy: RenditionPolicy
    ) -> (image: Image, rest: TransformChain, timeToLive: Duration?)? {
        guard request.allowsMemory, request.rendering.transform != nil else { return nil }
        var request = request
        var rest: [any ImageTransform] = []
        while let (shorter, last) = request.beforeLastTransform {
            request = shorter
            rest.insert(last, at: 0)
            let key = request.imageKey
            guard images.contains(key), let image = decodedImage(for: key) else { continue }
            // The frames of an animation that plays are transformed by its decoder.
            guard image.streamed == nil || policy.animationTransform == nil else { return nil }
            return (image, TransformChain(rest), images.timeToLive(of: key))
        }
        return nil
    }
}

/// The files that loads have looked at, with the newest state of each.
final class LocalFileStates: Sendable {
    private static let limit = 4_096
    private let files = Guarded<[String: LocalFile]>([:])

    /// Returns the state that the newest load found of a file; `nil` for another resource.
    func newest(of resource: ImageRequest.Resource) -> LocalFile? {
        guard case .file(let file) = resource.kind, file.version == nil else { return nil }
        return files.withLock { $0[file.path] }
    }

    /// Records the state of a file; when there are too many, all others are forgotten.
    func record(_ file: LocalFile) {
        files.withLock { files in
            if files.count >= Self.limit { files = [:] }
            files[file.path] = file
        }
    }
}
