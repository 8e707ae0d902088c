import EideticCodecs
import EideticCore
import EideticStore

/// Loads decoded images and inserts them into the memory cache; equal loads are coalesced into one job.
///
/// The stages of a job are: memory → smaller from larger → derived on disk → data → decode and transform → memory.
final class ImageLoader: Sendable {
    let dataLoader: ImageDataLoader
    let memory: ImageMemoryCache
    let renditions: RenditionIndex
    let gate: InteractionGate
    let stage: DecodeStage
    let derived: DerivedImageStore
    let decodes = TaskCoalescer<DecodeKey, Never, DecodeStage.Rendition>()
    private let jobs = TaskCoalescer<JobKey, Update, Output>()

    init(
        dataLoader: ImageDataLoader,
        stage: DecodeStage,
        memory: ImageMemoryCache,
        derived: DerivedImageStore,
        gate: InteractionGate
    ) {
        (self.dataLoader, self.stage, self.memory, self.gate) = (dataLoader, stage, memory, gate)
        self.derived = derived
        renditions = dataLoader.renditions
    }

    /// Loads an image.
    ///
    /// - Parameters:
    ///   - load: The request, and what follows from it.
    ///   - displayed: The image to be validated, if the load does so.
    ///   - context: The priority of the caller.
    ///   - onUpdate: Called with progress and previews.
    /// - Returns: The decoded image.
    /// - Throws: The errors of loading, decoding and the transform.
    func image(
        for load: Load,
        displaying displayed: Image? = nil,
        context: JobContext,
        onUpdate: (@Sendable (Update) -> Void)?
    ) async throws(EideticError) -> Output {
        let key = JobKey(for: load, displaying: displayed)
        return try await jobs.value(for: key, context: context, onProgress: onUpdate) { job throws(EideticError) in
            let token = self.renditions.startLoad(of: load.request.resourceKey)
            return try await self.run(
                Job(load: load, displayed: displayed, token: token, context: job.context, report: job.report)
            )
        }
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

// MARK: The stages of a job
extension ImageLoader {
    private func run(_ job: Job) async throws(EideticError) -> Output {
        if let output = try await imageFromMemory(for: job) { return output }
        if let output = try await derivedImage(for: job) { return output }
        var job = job
        while true {
            let (encodedImage, animation) = try await data(for: job)
            do throws(EideticError) {
                return try await render(encodedImage, playing: animation, for: job)
            } catch  where error.indicatesBrokenImage && !encodedImage.isValidated {
                job.load = try await fallback(for: encodedImage, of: job.load, after: error)
            }
        }
    }

    /// Returns the image from memory, or one made from a larger image there without its bytes; `nil` if memory has
    /// neither.
    private func imageFromMemory(for job: Job) async throws(EideticError) -> Output? {
        let request = job.load.request
        guard job.load.policy.tiers.allowsMemory, request.allowsMemory else { return nil }
        // An equal load may have ended since the caller's own look-up.
        if let image = memory.decodedImage(for: request.imageKey) { return Output(fromMemory: image) }
        guard let base = request.baseKey, let size = request.rendering.size else { return nil }
        let mode = request.rendering.contentMode
        // What matters is found in the pixels, so other pixels could have another crop.
        guard mode != .fill || request.rendering.cropFocus != .content else { return nil }
        guard let (larger, timeToLive) = memory.largerImage(for: request.imageKey, base: base, size: size, mode: mode),
            !larger.isAnimated, larger.isDecoded
        else { return nil }
        let deadline = timeToLive.map { SystemTime().uptime + $0 }
        try await gate.waitUntilOpen(for: job.context)
        let options = stage.policy(for: job.load).options
        let rendition = try await stage.downscale(larger, for: options, to: size, context: job.context)
        // An image that is made from another must not outlive it.
        let remainder = deadline.map { max(.zero, $0 - SystemTime().uptime) }
        job.token.insert(rendition.image, for: request, from: .memory, timeToLive: remainder)
        derived.store(downscaled: rendition, for: job.load)
        return Output(fromMemory: rendition.image, steps: rendition.steps)
    }

    /// Loads the bytes, and reports previews meanwhile.
    ///
    /// - Returns: The bytes, and the animation that was reported, which then has all of them.
    private func data(for job: Job) async throws(EideticError) -> (EncodedImage, animation: Image?) {
        stage.prepareSandbox(for: job.load)
        let previews = job.load.policy.showsPreviews ? PreviewGenerator(for: job, stage: stage) : nil
        defer { previews?.stop() }
        do throws(EideticError) {
            let encodedImage = try await dataLoader.encodedImage(for: job.load, context: job.context) { update in
                if update.isReported { job.report(.progress(update.progress)) }
                if let data = update.partialData { previews?.dataReceived(data) }
            }
            return (encodedImage, previews?.finish(with: .success(encodedImage)))
        } catch {
            _ = previews?.finish(with: .failure(error))
            throw error
        }
    }

    /// Decodes and transforms the bytes, starts to store them, and inserts the image into memory.
    ///
    /// - Parameters:
    ///   - encodedImage: The bytes.
    ///   - animation: The animation of these bytes that a view plays already; `nil` if there is none.
    ///   - job: The job.
    /// - Returns: The image.
    /// - Throws: The errors of decoding and of the transform.
    func render(
        _ encodedImage: EncodedImage,
        playing animation: Image? = nil,
        for job: Job
    ) async throws(EideticError) -> Output {
        defer { encodedImage.releaseShare() }
        if let displayed = job.displayed, displayed.encodedChecksum == encodedImage.provenance.checksum {
            // The disk has no entry, or other bytes, or has to forget what it has.
            if !encodedImage.isConfirmed { encodedImage.storeOnce(isDecoded: true) }
            return Output(unchanged: displayed, confirmedBy: encodedImage)
        }
        try await gate.waitUntilOpen(for: job.context)
        do throws(EideticError) {
            guard !job.load.policy.defersDecoding else {
                return try await deferDecoding(of: encodedImage, for: job.load, context: job.context)
            }
            let key = DecodeKey(for: job.load, from: encodedImage), policy = stage.policy(for: job.load)
            let rendition = try await decodes.value(for: key, context: job.context) { decode throws(EideticError) in
                if let animation { return self.stage.rendition(continuing: animation, of: encodedImage, by: policy) }
                return try await self.stage.rendition(of: encodedImage, by: policy, context: decode.context)
            }
            encodedImage.storeOnce(isDecoded: true)
            let (source, timeToLive) = (encodedImage.source, encodedImage.timeToLive)
            job.token.insert(rendition.image, for: job.load.request, from: source, timeToLive: timeToLive)
            derived.store(rendition, of: encodedImage, for: job.load)
            return Output(rendition, of: encodedImage)
        } catch {
            await recordFailure(error, of: encodedImage, for: job.load)
            throw error
        }
    }

    /// Reads the header on a decoding thread; the pixels are decoded when they are first used.
    func deferDecoding(
        of encodedImage: EncodedImage,
        for load: Load,
        context: JobContext
    ) async throws(EideticError) -> Output {
        let policy = stage.policy(for: load)
        return try await stage.run(decoding: encodedImage.bytes, by: policy, in: context) {
            context throws(EideticError) in
            try self.deferredImage(from: encodedImage, for: load, context: context)
        }
    }
}
