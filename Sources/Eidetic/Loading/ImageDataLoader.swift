import EideticCore
import EideticFetch
import EideticStore

/// Loads the encoded bytes of an image from disk, else from their source; equal loads are coalesced into one job.
final class ImageDataLoader: Sendable {
    private struct JobKey: Hashable {
        let dataKey: ImageRequest.DataKey
        let cachePolicy: CachePolicy
    }

    let disk: DiskCache?
    let freshnessPolicy: ImagePipeline.Configuration.Freshness
    let source: ImageDataSource
    let renditions: RenditionIndex
    let activeImages = ActiveImages()
    private let gate: InteractionGate
    let pool = WorkPool(name: "eidetic store", maximumThreadCount: 1)
    private let jobs = TaskCoalescer<JobKey, Update, EncodedImage>()

    init(configuration: ImagePipeline.Configuration, gate: InteractionGate, renditions: RenditionIndex) {
        self.gate = gate
        self.renditions = renditions
        disk = configuration.diskCache
        freshnessPolicy = configuration.freshness
        source = ImageDataSource(configuration: configuration)
    }

    /// Returns the encoded bytes for a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - cachePolicy: The tiers to use; by default those that the request's options name.
    ///   - context: The priority of the caller.
    ///   - onProgress: Called as bytes are received.
    /// - Returns: The encoded image.
    /// - Throws: `cacheMiss` if no source may be used, `cancelled`, and the errors of the source.
    func encodedImage(
        for request: ImageRequest,
        cachePolicy: CachePolicy? = nil,
        context: JobContext,
        onProgress: (@Sendable (Update) -> Void)?
    ) async throws(EideticError) -> EncodedImage {
        let policy = cachePolicy ?? CachePolicy(request)
        let key = JobKey(dataKey: request.dataKey, cachePolicy: policy)
        return try await jobs.value(for: key, context: context, onProgress: onProgress) { job throws(EideticError) in
            try await self.load(
                Job(request: request, cachePolicy: policy, context: job.context, report: job.report)
            )
        }
    }

    /// The number of active jobs.
    var activeJobCount: Int { jobs.activeJobCount }

    /// The number of images that are being written to disk.
    var activeWriteCount: Int { activeImages.storingCount }

    /// The number of loads that joined another caller's job.
    var joinedCount: Int { Int(jobs.statistics.joined) }

    /// Removes bytes that proved to be broken from disk, unless they were replaced meanwhile.
    func discard(_ image: EncodedImage, for request: ImageRequest) async {
        activeImages.remove(image, for: request.dataKey)
        guard let disk, let work = try? disk.beginWork() else { return }
        defer { work.end() }
        let key = image.diskKey ?? request.resourceKey
        _ = try? await pool.run { _ throws(EideticError) in
            guard try disk.blocking.read(key, allowingExpired: true)?.bytes == image.bytes else { return }
            _ = try disk.blocking.remove(key)
        }
    }

    /// Records that a server's bytes are not an image, so that it is not queried again soon.
    func recordFailure(_ error: EideticError, of image: EncodedImage, for request: ImageRequest) {
        activeImages.remove(image, for: request.dataKey)
        guard let server = image.server else { return }
        source.recordFailure(error, of: server, options: request.options, after: image.responses)
    }

    /// The error of a load that may use no source, and whose image no cache has.
    static func cacheMiss(for request: ImageRequest) -> EideticError {
        EideticError(.cacheMiss, message: "no cache has \(request.name), and the network may not be used")
    }
}

// MARK: The steps of a load
extension ImageDataLoader {
    private func load(_ job: Job) async throws(EideticError) -> EncodedImage {
        let timer = StepTimer(), request = job.request
        guard job.cachePolicy != .sourceOnly, request.resource.isStoredOnDisk else { return try await fetch(job) }
        if let image = activeImages[request.dataKey] { return image }
        try await gate.waitUntilOpen(for: job.context)
        switch await diskLookup(for: request, context: job.context) {
        case .hit(let image): return image
        case .stale(let stored) where job.cachePolicy == .cacheOnlyAllowingStale && !stored.isExpired:
            let step = timer.step(.disk, detail: "hit, \(ByteCount(stored.bytes.count)), stale")
            return EncodedImage(bytes: stored.bytes, source: .disk, steps: [step], timeToLive: .zero)
        case .stale(let stored):
            return try await fetch(job, revalidating: stored, after: [timer.step(.disk, detail: "stale")])
        case .miss(let reason): return try await fetch(job, after: [timer.step(.disk, detail: reason)])
        }
    }

    /// Loads from the source; a stale entry is used if the server confirms it, or if it may stand in for an error.
    private func fetch(
        _ job: Job,
        revalidating stale: StoredEntry? = nil,
        after steps: [LoadTrace.Step] = []
    ) async throws(EideticError) -> EncodedImage {
        guard job.cachePolicy.allowsSource || !job.request.resource.isStoredOnDisk else {
            throw Self.cacheMiss(for: job.request)
        }
        try job.context.checkCancellation()
        try await gate.waitUntilOpen(for: job.context)
        let timer = StepTimer()
        do throws(EideticError) {
            return await makeImage(try await fetched(job, revalidating: stale), for: job.request, after: steps)
        } catch {
            guard let stale, allowsStale(stale, after: error, for: job.request) else { throw error }
            let steps = steps + [timer.step(.network, detail: "stale, because of \(error)")]
            return EncodedImage(bytes: stale.bytes, source: .disk, steps: steps, timeToLive: .zero)
        }
    }
}
