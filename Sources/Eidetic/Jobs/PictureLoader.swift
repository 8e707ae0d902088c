import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore

/// A decoded picture that was just made, and the original that may still be on its way to the disk.
struct Output: Sendable {
    let image: Image
    let source: ImageSource
    /// `nil` where it was made from a larger picture in memory.
    let original: EncodedImage?
    let steps: [LoadTrace.Step]
    /// What its head says, where it was not decoded.
    var header: ImageHeader?
}

/// What is told of a picture that is being made.
enum LoaderUpdate: Sendable {
    case progress(FetchProgress)
    /// A partial picture.
    case preview(Image)
}

/// Makes decoded pictures from originals, each once for all who want it, and fills the memory cache.
final class ImageLoader: Sendable {
    private struct Key: Hashable {
        let picture: CacheKey
        let isDeferred: Bool
        let route: ImageDataLoader.CachePolicy
        let transfer: ImageRequest.DataKey

        init(_ request: ImageRequest, _ route: ImageDataLoader.CachePolicy) {
            picture = request.imageKey
            isDeferred = request.defersDecoding
            self.route = route
            transfer = request.dataKey
        }
    }

    /// What is made of which bytes.
    struct DecodeKey: Hashable {
        let picture: CacheKey
        let bytes: UInt64

        init(_ request: ImageRequest, _ original: EncodedImage) {
            (picture, bytes) = (request.imageKey, original.checksum)
        }
    }

    /// What decoding gave, and how it went.
    struct Rendition: Sendable {
        let image: Image
        let steps: [LoadTrace.Step]
    }

    let originals: ImageDataLoader
    let memory: ImageMemoryCache
    let limits: DecodeLimits
    private let scaleDownLimit: ByteCount
    let pool: WorkPool
    let gate: InteractionGate
    private let jobs = TaskCoalescer<Key, LoaderUpdate, Output>()
    let decodes = TaskCoalescer<DecodeKey, Never, Rendition>()
    let derived: RenditionIndex

    init(
        _ configuration: ImagePipeline.Configuration,
        _ gate: InteractionGate,
        originals: ImageDataLoader,
        memory: ImageMemoryCache
    ) {
        self.gate = gate
        self.originals = originals
        derived = originals.derived
        self.memory = memory
        limits = configuration.decodeLimits
        scaleDownLimit = configuration.scaleDownLimit
        pool = WorkPool(name: "eidetic decode", maximumThreadCount: configuration.maximumConcurrentDecodes)
    }

    /// `route` is the one of the request's options unless another is given.
    func picture(
        for request: ImageRequest,
        route: ImageDataLoader.CachePolicy? = nil,
        context: JobContext,
        onNews: (@Sendable (LoaderUpdate) -> Void)?
    ) async throws(EideticError) -> Output {
        let route = route ?? ImageDataLoader.CachePolicy(request.options), key = Key(request, route)
        return try await jobs.value(for: key, context: context, onProgress: onNews) { job throws(EideticError) in
            try await self.make(request, route, job.context, job.report)
        }
    }

    /// Jobs that are under way.
    var running: Int { jobs.activeJobCount + decodes.activeJobCount }

    /// Answers for which the work of another caller was used.
    var joined: Int { Int(jobs.statistics.joined + decodes.statistics.joined) }

    private func make(
        _ request: ImageRequest,
        _ route: ImageDataLoader.CachePolicy,
        _ context: JobContext,
        _ report: @escaping @Sendable (LoaderUpdate) -> Void
    ) async throws(EideticError) -> Output {
        let start = derived.begin(request.resourceKey)
        defer { derived.end(request.resourceKey) }
        if route != .originOnly {
            if let image = memory.decodedImage(for: request.imageKey) {
                // A twin has made it since the caller looked.
                return Output(image: image, source: .memory, original: nil, steps: [])
            }
            if let picture = try await reduced(request, context, since: start) { return picture }
        }
        var (request, route) = (request, route)
        while true {
            let original = try await original(for: request, route, context, report)
            do throws(EideticError) {
                return try await render(request, original, context, since: start)
            } catch  where error.isBrokenPicture && !original.isPicture {
                request = try await other(than: original, for: request, route, after: error)
                route = .originOnly
            }
        }
    }

    /// Brings the original, and shows what is there of it while it comes.
    private func original(
        for request: ImageRequest,
        _ route: ImageDataLoader.CachePolicy,
        _ context: JobContext,
        _ report: @escaping @Sendable (LoaderUpdate) -> Void
    ) async throws(EideticError) -> EncodedImage {
        let previews = previews(of: request, context, report)
        defer { previews?.end() }
        return try await originals.original(for: request, route: route, context: context) { arrival in
            if arrival.isReported { report(.progress(arrival.progress)) }
            if let bytes = arrival.bytes { previews?.bytesCame(bytes) }
        }
    }

    /// What is to be asked for at the origin in place of bytes that proved to be broken; throws where nothing is left.
    private func other(
        than original: EncodedImage,
        for request: ImageRequest,
        _ route: ImageDataLoader.CachePolicy,
        after error: EideticError
    ) async throws(EideticError) -> ImageRequest {
        if original.isFromDisk {
            await originals.discard(original, request)
            guard route.asksOrigin else { throw ImageDataLoader.miss(request) }
            return request
        }
        guard route.asksOrigin, let remote = original.remote, let rest = request.fallback(after: remote) else {
            throw error
        }
        return rest
    }

    /// What shows the picture while it comes; `nil` where nobody wants that.
    private func previews(
        of request: ImageRequest,
        _ context: JobContext,
        _ report: @escaping @Sendable (LoaderUpdate) -> Void
    ) -> PreviewGenerator? {
        guard request.options.contains(.progressive) else { return nil }
        let options = decodeOptions(request)
        return PreviewGenerator(pool, context) { [limits] in
            let decoder = PreviewDecoder(options: options, limits: limits, context: context)
            return { bytes throws(EideticError) in
                let image = try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
                    try decoder.preview(of: UnsafeRawBufferPointer(bytes))
                }
                guard let image else { return nil }
                return try Self.transformed(image, request)
            }
        } report: {
            report(.preview($0))
        }
    }

    /// The picture made from a larger decode that is in memory; `nil` where there is none.
    private func reduced(
        _ request: ImageRequest,
        _ context: JobContext,
        since start: UInt64
    ) async throws(EideticError) -> Output? {
        guard let base = request.baseKey, let size = request.rendering.size else { return nil }
        let mode = request.rendering.contentMode
        guard let larger = memory.image(for: request.imageKey, base: base, size: size, mode: mode),
            !larger.isAnimated, larger.isDecoded
        else { return nil }
        try await gate.pass(context)
        let (image, step) = try await pool.run(in: context) { _ throws(EideticError) in
            let timer = StepTimer()
            let image = try larger.reduced(to: larger.sourceSize.scaled(to: size, mode: mode))
            return (image, timer.step(.decode, detail: "\(larger.size) in memory to \(image.size)"))
        }
        // Where pictures are fresh for a time only, what is made of one would outlive it.
        if originals.policy == .maximumAge {
            derived.keep(image, request, .memory, for: nil, since: start)
        }
        return Output(image: image, source: .memory, original: nil, steps: [step])
    }

    /// Decodes and transforms the bytes, has them stored, and fills the memory cache.
    ///
    /// Nothing is kept of bytes that were replaced after `start`, a moment from before the original was read.
    func render(
        _ request: ImageRequest,
        _ original: EncodedImage,
        _ context: JobContext,
        since start: UInt64
    ) async throws(EideticError) -> Output {
        try await gate.pass(context)
        do throws(EideticError) {
            guard request.defersDecoding else { return try await decode(request, original, context, since: start) }
            return try await pool.run(in: context) { _ throws(EideticError) in try self.deferred(request, original) }
        } catch {
            note(error, of: original, request)
            throw error
        }
    }

    /// Remembers that what a server sends is of no use to anybody, so that it is not asked again soon.
    func note(_ error: EideticError, of original: EncodedImage, _ request: ImageRequest) {
        if !original.isPicture, isHopeless(request, original, error) { originals.note(error, of: original, request) }
    }

    /// Whether nobody can have a picture of these bytes, whatever size and frames they want.
    private func isHopeless(_ request: ImageRequest, _ original: EncodedImage, _ error: EideticError) -> Bool {
        let isBroken = error.isBrokenPicture || error.code == .unsupportedFormat
        if isBroken, !request.options.contains(.preloadAllFrames) { return true }
        guard isBroken || error.code == .limitExceeded else { return false }
        var least = DecodeOptions()
        least.size = PixelSize(width: 1, height: 1)
        return (try? ImageDecoder.workingMemory(for: original.bytes, options: least, limits: limits)) == nil
    }

    private func decode(
        _ request: ImageRequest,
        _ original: EncodedImage,
        _ context: JobContext,
        since start: UInt64
    ) async throws(EideticError) -> Output {
        let key = DecodeKey(request, original)
        let made = try await decodes.value(for: key, context: context) { job throws(EideticError) in
            try await self.made(of: original, request, job.context)
        }
        original.storeOnce()
        derived.keep(made.image, request, original.source, for: original.freshFor, since: start)
        return Output(
            image: made.image,
            source: original.source,
            original: original,
            steps: original.steps + made.steps
        )
    }

    private func made(
        of original: EncodedImage,
        _ request: ImageRequest,
        _ context: JobContext
    ) async throws(EideticError) -> Rendition {
        let timer = StepTimer()
        return try await pool.run(in: context) { context throws(EideticError) in
            let wait = timer.elapsed
            let image = try self.decoded(original, request, context)
            // Only bytes that proved to be a picture are stored.
            original.storeOnce()
            let note = "\(image.format) \(image.sourceSize) to \(image.size)"
            let decoded = timer.step(.decode, detail: "\(note), \(Int(wait.inMilliseconds.rounded())) ms in the queue")
            return try Self.transform(image, of: original, request, [decoded], context)
        }
    }

    /// Decodes what the disk has, on the calling thread; `nil` where it has nothing that can be used at once.
    func pictureAtOnce(for request: ImageRequest) -> Output? {
        let start = derived.begin(request.resourceKey)
        defer { derived.end(request.resourceKey) }
        guard let original = originals.storedAtOnce(request) else { return nil }
        let timer = StepTimer()
        do throws(EideticError) {
            if request.defersDecoding { return try deferred(request, original) }
            let decoded = try decoded(original, request, nil)
            let step = timer.step(
                .decode,
                detail: "\(decoded.format) \(decoded.sourceSize) to \(decoded.size), by the caller"
            )
            let made = try Self.transform(decoded, of: original, request, [step], nil)
            derived.keep(made.image, request, original.source, for: original.freshFor, since: start)
            return Output(
                image: made.image,
                source: original.source,
                original: original,
                steps: original.steps + made.steps
            )
        } catch {
            return nil
        }
    }

    func decodeOptions(_ request: ImageRequest) -> DecodeOptions { request.decodeOptions(byteLimit: scaleDownLimit) }

    /// Decodes on the calling thread, which waits there for its turn only with a context.
    func decoded(
        _ original: EncodedImage,
        _ request: ImageRequest,
        _ context: JobContext?
    ) throws(EideticError) -> Image {
        let options = decodeOptions(request)
        guard let context else { return try ImageDecoder.decode(original.bytes, options: options, limits: limits) }
        return try original.bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let bytes = UnsafeRawBufferPointer(bytes)
            return try ImageDecoder.decode(bytes, options: options, limits: limits, context: context)
        }
    }

    private static func transform(
        _ image: Image,
        of original: EncodedImage,
        _ request: ImageRequest,
        _ steps: [LoadTrace.Step],
        _ context: JobContext?
    ) throws(EideticError) -> Rendition {
        try context?.checkCancellation()
        var image = image
        image.note(original)
        let timer = StepTimer()
        guard let transform = request.transform(for: image) else { return Rendition(image: image, steps: steps) }
        var changed = try transform.apply(to: image, context: context)
        (changed.encodedSize, changed.encodedChecksum) = (image.encodedSize, image.encodedChecksum)
        return Rendition(image: changed, steps: steps + [timer.step(.transform, detail: transform.key)])
    }

    private static func transformed(_ image: Image, _ request: ImageRequest) throws(EideticError) -> Image {
        guard let transform = request.transform(for: image) else { return image }
        return try transform.apply(to: image)
    }
}

extension ImageRequest {
    /// The transform, where it is to be applied to this picture.
    fileprivate func transform(for image: Image) -> (any ImageTransform)? {
        guard !image.isAnimated || options.contains(.transformAnimatedImage),
            image.format != .svg || options.contains(.transformVectorImage)
        else { return nil }
        return rendering.transform
    }
}

extension EideticError {
    /// Whether the bytes are at fault, and not the request or the machine.
    var isBrokenPicture: Bool { [.corrupt, .truncated, .notAnImage].contains(code) }
}

extension Image {
    /// Notes what it was made of.
    mutating func note(_ original: EncodedImage) {
        (encodedSize, encodedChecksum) = (ByteCount(original.bytes.count), original.checksum)
    }

    /// The first frame made smaller.
    fileprivate func reduced(to size: PixelSize) throws(EideticError) -> Image {
        let smaller = size == self.size ? pixels : try Resampler.resample(pixels, to: size)
        var image = Image(
            frames: [Frame(pixels: smaller)],
            format: format,
            sourceSize: sourceSize,
            scale: scale
        )
        (image.encodedSize, image.encodedChecksum) = (encodedSize, encodedChecksum)
        return image
    }
}
