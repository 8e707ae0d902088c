import EideticCodecs
import EideticCore
import EideticStore

/// Loads decoded images and inserts them into the memory cache; equal loads are coalesced into one ``ImageJob``.
final class ImageLoader: Sendable {
    let dataLoader: ImageDataLoader
    let memory: ImageMemoryCache
    let renditions: RenditionIndex
    let gate: InteractionGate
    let stage: DecodeStage
    let derived: DerivedImageStore
    let decodes = TaskCoalescer<DecodeKey, Never, Rendition>()
    private let jobs = TaskCoalescer<JobKey, ImageTask.Event, ImageResponse>()

    init(
        dataLoader: ImageDataLoader,
        stage: DecodeStage,
        memory: ImageMemoryCache,
        derived: DerivedImageStore,
        gate: InteractionGate
    ) {
        self.dataLoader = dataLoader
        self.stage = stage
        self.memory = memory
        self.gate = gate
        self.derived = derived
        renditions = dataLoader.renditions
    }

    /// Loads an image.
    func response(
        to load: Load,
        displaying displayed: Image? = nil,
        context: JobContext,
        report: @escaping ImagePipeline.Report
    ) async throws(EideticError) -> ImageResponse {
        // A program that only moves files loads each once, and nobody uses the pixels: the job of the bytes suffices.
        if load.policy.defersDecoding, displayed == nil, BlockingExecutor.current != nil {
            if let image = memoryHit(for: load) { return ImageResponse(image, source: .memory, steps: []) }
            return try await ImageJob(load, loader: self, context: context, report: report).response()
        }
        let key = JobKey(for: load, displaying: displayed)
        let showsPreviews = load.policy.showsPreviews
        // Another caller of the same job may have asked for previews.
        let report: ImagePipeline.Report = { event in
            if case .preview = event, !showsPreviews { return }
            report(event)
        }
        return try await jobs.value(for: key, context: context, onProgress: report) { job throws(EideticError) in
            // An equal load may have ended since the caller's own look-up.
            if let image = self.memoryHit(for: load) { return ImageResponse(image, source: .memory, steps: []) }
            return try await ImageJob(
                load,
                displaying: displayed,
                loader: self,
                context: job.context,
                report: job.report
            )
            .response()
        }
    }

    private func memoryHit(for load: Load) -> Image? {
        load.policy.tiers.allowsMemory ? memory.hit(for: load.request) : nil
    }

    /// Loads the bytes to disk, unless they are there, and reads their header; memory gets nothing.
    func storedResponse(to load: Load, context: JobContext) async throws(EideticError) -> ImageResponse {
        try await ImageJob(load, loader: self, context: context, fillsMemory: false) { _ in }.storedResponse()
    }

    /// Waits until another process has downloaded the bytes, unless they are on disk.
    func transferredResponse(to load: Load, context: JobContext) async throws(EideticError) -> ImageResponse {
        let request = load.request
        guard let transferredImages = dataLoader.disk.transferredImages else {
            throw EideticError(.refused, message: "\(request.name): the pipeline has no transfers, or no disk cache")
        }
        let isOnDisk = (try? await dataLoader.disk.disk?.contains(request.resourceKey)) ?? false
        if isOnDisk { return try await storedResponse(to: load, context: context) }
        let timer = StepTimer(), step: LoadTrace.Step
        do throws(EideticError) {
            try await transferredImages.download(load)
            step = timer.step(.network, detail: "by the transfer service")
        } catch  where error.code == .refused {
            Log.write(.info, category: .pipeline, message: "\(error)")
            return try await storedResponse(to: load, context: context)
        }
        var response = try await storedResponse(to: load, context: context)
        response.trace.steps.insert(step, at: 0)
        return response
    }

    /// Cancels all jobs, and those of the bytes.
    func cancelAll() {
        jobs.cancelAll()
        decodes.cancelAll()
        dataLoader.cancelAll()
    }

    /// The number of active jobs and decodes.
    var activeJobCount: Int { jobs.activeJobCount + decodes.activeJobCount }

    /// The number of loads that joined another caller's job.
    var joinedCount: Int { Int(jobs.statistics.joined + decodes.statistics.joined) }
}

extension ImageLoader {
    /// The identity of a load: loads with equal keys are coalesced.
    private struct JobKey: Hashable {
        let imageKey: CacheKey
        let defersDecoding: Bool
        let tiers: LoadTiers
        let displayed: UInt64?
        let dataKey: ImageRequest.DataKey
        let reads: ImageRequest.CachePolicy.Tiers
        let writes: ImageRequest.CachePolicy.Tiers
        let decodePolicy: DecodePolicy?

        init(for load: Load, displaying displayed: Image?) {
            imageKey = load.request.imageKey
            defersDecoding = load.policy.defersDecoding
            tiers = load.policy.tiers
            self.displayed = displayed?.encodedChecksum
            dataKey = load.dataKey
            reads = load.policy.reads
            writes = load.policy.writes
            decodePolicy = load.request.decodePolicy
        }
    }

    /// The identity of a decode: which image is made from which bytes.
    struct DecodeKey: Hashable {
        let imageKey: CacheKey
        let checksum: UInt64
        let decodePolicy: DecodePolicy?

        init(for request: ImageRequest, from data: EncodedImage) {
            imageKey = request.imageKey
            checksum = data.provenance.checksum
            decodePolicy = request.decodePolicy
        }
    }
}
