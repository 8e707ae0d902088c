import EideticCore
import EideticFetch
import EideticStore

/// Loads the encoded bytes of an image from disk, a shared tier or their source; equal loads are coalesced.
///
/// The stages of a job are: bytes that another load holds → disk → shared tier → source. A stale entry on disk goes
/// along to the source, whose server may confirm it.
final class ImageDataLoader: Sendable {
    /// One load of encoded bytes, as its steps hand it along.
    struct Job: Sendable {
        let load: Load
        let context: JobContext
        let report: @Sendable (Update) -> Void

        var request: ImageRequest { load.request }
        var tiers: CachePolicy { load.policy.tiers }
    }

    /// The progress of a load.
    struct Update: Sendable {
        let progress: FetchProgress
        /// A Boolean value indicating whether the last report is old enough for another one.
        var isReported = true
        /// The bytes received so far; `nil` unless previews are requested.
        var partialData: PartialData?
    }

    private struct JobKey: Hashable {
        let dataKey: ImageRequest.DataKey
        let tiers: CachePolicy
    }

    let disk: DiskCache?
    /// The tier between the disk and the source; `nil` without one.
    let shared: SharedStage?
    let freshnessPolicy: ImagePipeline.Configuration.Freshness
    let source: ImageDataSource
    /// The images whose download was handed over; `nil` without a service for it.
    let transferredImages: TransferredImages?
    let renditions: RenditionIndex
    let activeImages = ActiveImages()
    let gate: InteractionGate
    let pool = WorkPool(name: "eidetic store", maximumThreadCount: 1)
    let serializer: ImageCache.Serializer
    let serializerPool: WorkPool
    private let jobs = TaskCoalescer<JobKey, Update, EncodedImage>()

    init(configuration: ImagePipeline.Configuration, gate: InteractionGate, renditions: RenditionIndex) {
        self.gate = gate
        self.renditions = renditions
        disk = configuration.diskCache
        shared = SharedStage(configuration)
        freshnessPolicy = configuration.freshness
        serializer = configuration.serializer
        serializerPool = WorkPool(
            name: "eidetic serializer",
            maximumThreadCount: configuration.maximumConcurrentDecodes
        )
        source = ImageDataSource(configuration: configuration)
        transferredImages = TransferredImages(configuration: configuration)
    }

    /// Returns the encoded bytes for a load.
    ///
    /// - Parameters:
    ///   - load: The request, and what follows from it.
    ///   - context: The priority of the caller.
    ///   - onUpdate: Called as bytes are received.
    /// - Returns: The encoded image.
    /// - Throws: `cacheMiss` if no source may be used, `cancelled`, and the errors of the source.
    func encodedImage(
        for load: Load,
        context: JobContext,
        onUpdate: (@Sendable (Update) -> Void)?
    ) async throws(EideticError) -> EncodedImage {
        let key = JobKey(dataKey: load.request.dataKey, tiers: load.policy.tiers)
        return try await jobs.value(for: key, context: context, onProgress: onUpdate) { job throws(EideticError) in
            try await self.run(Job(load: load, context: job.context, report: job.report))
        }
    }

    /// Cancels all jobs.
    func cancelAll() { jobs.cancelAll() }

    /// The number of active jobs.
    var activeJobCount: Int { jobs.activeJobCount }

    /// The number of images that are being written to disk.
    var activeWriteCount: Int { activeImages.storingCount }

    /// The number of loads that joined another caller's job.
    var joinedCount: Int { Int(jobs.statistics.joined) }

    /// Removes bytes that proved to be broken from the cache that had them, unless they were replaced meanwhile.
    func discard(_ image: EncodedImage, for request: ImageRequest) async {
        activeImages.remove(image, for: request.dataKey)
        if let entry = image.sharedEntry {
            let value = try? await pool.run { _ in SharedEntry.encode(entry) }
            if let value { await shared?.remove(entry.key, ifEqualTo: value) }
        }
        guard image.isFromDisk, let disk, let work = try? disk.beginWork() else { return }
        defer { work.end() }
        let key = image.diskKey ?? request.resourceKey
        _ = try? await pool.run { _ throws(EideticError) in
            guard let entry = try disk.blocking.read(key, allowingExpired: true),
                try self.storedEntry(entry).bytes == image.bytes
            else { return }
            _ = try disk.blocking.remove(key)
        }
    }

    /// Records that a server's bytes are not an image, so that it is not queried again soon.
    func recordFailure(_ error: EideticError, of image: EncodedImage, for load: Load) {
        activeImages.remove(image, for: load.request.dataKey)
        if error.indicatesBrokenImage { image.lease?.end(with: .waived(SharedStage.failureInterval)) }
        guard let server = image.server.map({ load.policy.transport.applied(to: $0) }) else { return }
        source.downloader.recordFailure(error, of: server, after: image.responses)
    }

    /// The error of a load that may use no source, and whose image no cache has.
    static func cacheMiss(for request: ImageRequest) -> EideticError {
        EideticError(.cacheMiss, message: "no cache has \(request.name), and the network may not be used")
    }
}

// MARK: The stages of a job
extension ImageDataLoader {
    private func run(_ job: Job) async throws(EideticError) -> EncodedImage {
        let access = job.load.policy.access
        guard job.tiers != .sourceOnly, !access.isDisjoint(with: [.readOriginal, .readShared]),
            job.request.resource.isStoredOnDisk
        else { return try await fetch(job) }
        if job.tiers.allowsMemory, access.contains(.readOriginal), let image = activeImages[job.request.dataKey] {
            return image
        }
        try await gate.waitUntilOpen(for: job.context)
        let timer = StepTimer(job.context)
        var lookup = await diskLookup(for: job.load, context: job.context)
        // An earlier process may have handed over the download.
        if case .miss = lookup, await transferredImages?.waitForArrival(of: job.request) ?? false {
            lookup = await diskLookup(for: job.load, context: job.context)
        }
        switch lookup {
        case .hit(let image): return image
        case .stale(let stored):
            return try await continueBehindDisk(job, validating: stored, after: timer.step(.disk, detail: "stale"))
        case .miss(let reason): return try await continueBehindDisk(job, after: timer.step(.disk, detail: reason))
        }
    }

    /// Searches the shared tier, then loads from the source.
    private func continueBehindDisk(
        _ job: Job,
        validating stale: StoredEntry? = nil,
        after search: LoadTrace.Step
    ) async throws(EideticError) -> EncodedImage {
        switch try await sharedLookup(for: job, after: search) {
        case .hit(let image): return image
        case .miss(let lease, let step):
            let steps = [search, step].compactMap(\.self)
            do throws(EideticError) {
                return try await fetch(job, validating: stale, after: steps, lease: lease)
            } catch {
                // After a failure all others try at once; after a cancellation the next one loads for them.
                lease?.end(with: error.code == .cancelled ? .released : .waived(SharedStage.failureInterval))
                throw error
            }
        }
    }

    /// Loads from the source; a stale entry is used if the server confirms it, or if it may stand in for an error.
    private func fetch(
        _ job: Job,
        validating stale: StoredEntry? = nil,
        after search: [LoadTrace.Step] = [],
        lease: HeldLease? = nil
    ) async throws(EideticError) -> EncodedImage {
        guard job.tiers.allowsSource || !job.request.resource.isStoredOnDisk else {
            throw Self.cacheMiss(for: job.request)
        }
        try job.context.checkCancellation()
        try await gate.waitUntilOpen(for: job.context)
        // A caller that has the image shows how it was found itself.
        let timer = StepTimer(), steps = job.tiers.isValidation ? [] : search
        do throws(EideticError) {
            let fetched = try await fetched(job, validating: stale)
            return await makeImage(fetched, for: job.load, after: steps, lease: lease)
        } catch {
            guard !job.tiers.isValidation, let stale, allowsStale(stale, after: error, for: job.load) else {
                throw error
            }
            let step = timer.step(.network, detail: "stale, because of \(error)")
            return EncodedImage(bytes: stale.bytes, source: .disk, steps: steps + [step], timeToLive: .zero)
        }
    }
}
