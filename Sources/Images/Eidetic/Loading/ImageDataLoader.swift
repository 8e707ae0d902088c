import EideticFetch
import EideticStore

/// Loads the encoded bytes of an image from disk, a shared tier or their source; equal loads are coalesced.
///
/// The stages of a job are: bytes that another load holds → disk → an arriving transfer → shared tier → source. A stale
/// entry on disk goes along to the source, whose server may confirm it.
final class ImageDataLoader: Sendable {
    struct JobKey: Hashable {
        let dataKey: ImageRequest.DataKey
        let tiers: LoadTiers
    }

    let disk: DiskStage
    let source: SourceStage
    let renditions: RenditionIndex
    let gate: InteractionGate
    /// The images whose download was handed over; `nil` without a service for it.
    let transferredImages: TransferredImages?
    private let stages: [any DataStage]
    let jobs = TaskCoalescer<JobKey, DataJob.Update, EncodedImage>()

    init(configuration: ImagePipeline.Configuration, gate: InteractionGate, renditions: RenditionIndex) {
        self.gate = gate
        self.renditions = renditions
        disk = DiskStage(configuration: configuration, rules: FreshnessRules(configuration))
        let shared = SharedStage(configuration, disk: disk, renditions: renditions, gate: gate)
        source = SourceStage(
            configuration: configuration,
            disk: disk,
            shared: shared,
            renditions: renditions,
            gate: gate
        )
        transferredImages = TransferredImages(configuration: configuration, stage: disk)
        let optional: [(any DataStage)?] = [transferredImages, shared]
        stages = [disk] + optional.compactMap(\.self) + [source]
    }

    var activeImages: ActiveImages { source.activeImages }

    /// Returns the encoded bytes for a load.
    nonisolated(nonsending) func encodedImage(
        for load: Load,
        context: JobContext,
        onUpdate: (@Sendable (DataJob.Update) -> Void)?
    ) async throws(EideticError) -> EncodedImage {
        guard !load.movesFile else {
            return try await encodedImage(for: DataJob(load: load, context: context) { onUpdate?($0) })
        }
        let key = JobKey(dataKey: load.dataKey, tiers: load.policy.tiers)
        return try await jobs.value(for: key, context: context, onProgress: onUpdate) { job throws(EideticError) in
            try await self.encodedImage(for: DataJob(load: load, context: job.context, report: job.report))
        }
    }

    /// Passes a job through its stages.
    nonisolated(nonsending) private func encodedImage(for job: DataJob) async throws(EideticError) -> EncodedImage {
        let searchesCaches =
            job.tiers != .sourceOnly && !job.reads.isDisjoint(with: [.original, .shared])
            && job.request.resource.isStoredOnDisk
        if searchesCaches {
            let mayBeActive = job.tiers.allowsMemory && job.reads.contains(.original)
            if mayBeActive, let image = activeImages[job.load.dataKey] { return image }
            try await gate.waitUntilOpen(for: job.context)
        }
        var search = DataSearch()
        for stage in searchesCaches ? stages : [source] {
            switch try await stage.find(job, after: search) {
            case .found(let image): return image
            case .missing(let next): search = next
            }
        }
        throw EideticError.cacheMiss(of: job.request)
    }

    /// Returns the bytes that a cache has, however stale, for an image that was in memory.
    func cachedBytes(for load: Load) async -> [UInt8]? {
        if let image = activeImages[load.dataKey] { return image.bytes }
        if case .bytes(let bytes) = load.request.resource.kind { return bytes }
        return await disk.bytes(for: load)
    }

    /// Returns the image that is being written to disk, or could not be, although memory may have it decoded.
    func unstoredImage(for request: ImageRequest) -> EncodedImage? {
        activeImages[request.dataKey].flatMap { $0.storage?.hasStarted == true ? $0 : nil }
    }

    /// Hands the download of an image over to another process, unless its bytes are here; failures are logged.
    func handOver(_ load: Load) async {
        if activeImages[load.dataKey] == nil { await transferredImages?.handOver(load) }
    }

    /// Removes bytes that proved to be broken from the cache that had them, unless they were replaced meanwhile.
    func discard(_ image: EncodedImage, for request: ImageRequest) async {
        activeImages.remove(image, for: request.dataKey)
        if let entry = image.facts.sharedEntry { await source.shared?.discard(entry) }
        if image.isFromDisk { await disk.discard(image, for: request) }
    }

    /// Records that a server's bytes are not an image, so that it is not queried again soon.
    func recordFailure(_ error: EideticError, of image: EncodedImage, for load: Load) {
        activeImages.remove(image, for: load.dataKey)
        if error.indicatesBrokenImage { image.storage?.lease?.end(with: .waived(SharedStage.failureInterval)) }
        guard image.facts.isTransferred, let server = load.server else { return }
        disk.downloader.failures.record(error, of: server, after: image.facts.responses)
    }
}

/// One load of encoded bytes, as its stages hand it along.
struct DataJob: Sendable {
    /// The progress of a load.
    struct Update: Sendable {
        let progress: LoadProgress
        /// A Boolean value indicating whether the last report is old enough for another one.
        var isReported = true
        /// The bytes received so far; `nil` unless previews are requested.
        var partialData: PartialData?
    }

    let load: Load
    let context: JobContext
    let report: @Sendable (Update) -> Void

    var request: ImageRequest { load.request }
    var tiers: LoadTiers { load.policy.tiers }
    var reads: ImageRequest.CachePolicy.Tiers { load.policy.reads }
}

extension EideticError {
    /// The error of a load that may use no source, and whose image no cache has.
    static func cacheMiss(of request: ImageRequest) -> EideticError {
        EideticError(.cacheMiss, message: "no cache has \(request.name), and the network may not be used")
    }
}

/// A place where a job looks for bytes.
protocol DataStage: Sendable {
    /// Looks for the bytes of a job.
    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
}

/// The findings of the stages so far about the bytes of a job.
struct DataSearch: Sendable {
    var steps: [LoadTrace.Step] = []
    /// The entry on disk that the server must confirm first.
    var stale: StoredEntry?
    /// The part of the bytes on disk that an earlier load has left.
    var part: DiskCache.Entry?
    var lease: HeldLease?
}

/// The result of a stage.
enum DataLookup: Sendable {
    case found(EncodedImage)
    case missing(DataSearch)
}
