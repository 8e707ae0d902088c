import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore

/// Loads decoded images and inserts them into the memory cache; equal loads are coalesced into one job.
///
/// The steps are: a larger image in memory, else the encoded bytes, then decode and transform.
final class ImageLoader: Sendable {
    let dataLoader: ImageDataLoader
    let memory: ImageMemoryCache
    let renditions: RenditionIndex
    let gate: InteractionGate
    let pools: DecodePools
    let decodeLimits: DecodeLimits
    let decodes = TaskCoalescer<DecodeKey, Never, Rendition>()
    let revalidations = TaskCoalescer<RevalidationKey, FetchProgress, Revalidation>()
    private let jobs = TaskCoalescer<JobKey, Update, Output>()
    private let scaleDownLimit: ByteCount

    init(
        configuration: ImagePipeline.Configuration,
        gate: InteractionGate,
        dataLoader: ImageDataLoader,
        memory: ImageMemoryCache
    ) {
        self.gate = gate
        self.dataLoader = dataLoader
        renditions = dataLoader.renditions
        self.memory = memory
        decodeLimits = configuration.decodeLimits
        scaleDownLimit = configuration.scaleDownLimit
        pools = DecodePools(name: "eidetic decode", maximumThreadCount: configuration.maximumConcurrentDecodes)
    }

    /// Loads the image for a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - cachePolicy: The tiers to use; by default those that the request's options name.
    ///   - context: The priority of the caller.
    ///   - onUpdate: Called with progress and previews.
    /// - Returns: The decoded image.
    /// - Throws: The errors of loading, decoding and the transform.
    func image(
        for request: ImageRequest,
        cachePolicy: ImageDataLoader.CachePolicy? = nil,
        context: JobContext,
        onUpdate: (@Sendable (Update) -> Void)?
    ) async throws(EideticError) -> Output {
        let policy = cachePolicy ?? ImageDataLoader.CachePolicy(request)
        let key = JobKey(for: request, cachePolicy: policy)
        return try await jobs.value(for: key, context: context, onProgress: onUpdate) { job throws(EideticError) in
            let start = self.renditions.startLoad(of: request.resourceKey)
            defer { self.renditions.endLoad(of: request.resourceKey) }
            let context = job.context, report = job.report
            return try await self.load(
                Job(request: request, cachePolicy: policy, context: context, report: report, start: start)
            )
        }
    }

    /// The number of active jobs, decodes and revalidations.
    var activeJobCount: Int { jobs.activeJobCount + decodes.activeJobCount + revalidations.activeJobCount }

    /// The number of loads that joined another caller's job.
    var joinedCount: Int { Int(jobs.statistics.joined + decodes.statistics.joined) }

    func decodeOptions(for request: ImageRequest) -> DecodeOptions { request.decodeOptions(byteLimit: scaleDownLimit) }
}

// MARK: The steps of a load
extension ImageLoader {
    private func load(_ job: Job) async throws(EideticError) -> Output {
        if job.cachePolicy != .sourceOnly, job.request.allowsMemory {
            // An equal load may have ended since the caller's own look-up.
            if let image = memory.decodedImage(for: job.request.imageKey) { return Output(fromMemory: image) }
            if let output = try await downscaledImage(for: job) { return output }
        }
        var job = job
        while true {
            let encodedImage = try await encodedImage(for: job)
            do throws(EideticError) {
                return try await render(encodedImage, for: job)
            } catch  where error.indicatesBrokenImage && !encodedImage.isValidated {
                job.request = try await fallback(for: encodedImage, job: job, error: error)
                job.cachePolicy = .sourceOnly
            }
        }
    }

    /// Loads the bytes, and reports previews meanwhile.
    private func encodedImage(for job: Job) async throws(EideticError) -> EncodedImage {
        let previews = previewGenerator(for: job)
        defer { previews?.stop() }
        return try await dataLoader.encodedImage(
            for: job.request,
            cachePolicy: job.cachePolicy,
            context: job.context
        ) { update in
            if update.isReported { job.report(.progress(update.progress)) }
            if let data = update.partialData { previews?.dataReceived(data) }
        }
    }

    /// Returns the request to be loaded from the source instead of one whose bytes proved to be broken.
    ///
    /// - Throws: `cacheMiss` if the broken bytes were on disk and no source may be used; `error` if no source is left.
    private func fallback(
        for broken: EncodedImage,
        job: Job,
        error: EideticError
    ) async throws(EideticError) -> ImageRequest {
        if broken.isFromDisk {
            await dataLoader.discard(broken, for: job.request)
            guard job.cachePolicy.allowsSource else { throw ImageDataLoader.cacheMiss(for: job.request) }
            return job.request
        }
        guard job.cachePolicy.allowsSource, let server = broken.server, let next = job.request.fallback(after: server)
        else { throw error }
        return next
    }

    /// Decodes and transforms the bytes, starts to store them, and inserts the image into memory.
    func render(_ encodedImage: EncodedImage, for job: Job) async throws(EideticError) -> Output {
        defer { encodedImage.releaseShare() }
        try await gate.waitUntilOpen(for: job.context)
        do throws(EideticError) {
            guard job.request.defersDecoding else { return try await decode(encodedImage, for: job) }
            return try await pools.pool(for: encodedImage.bytes).run(in: job.context) { _ throws(EideticError) in
                try self.deferredImage(from: encodedImage, for: job.request)
            }
        } catch {
            recordFailure(error, of: encodedImage, for: job.request)
            throw error
        }
    }
}
