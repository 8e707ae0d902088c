import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore

/// A decoded picture that was just made, and the original that may still be on its way to the disk.
struct LoadedPicture: Sendable {
    let image: Image
    let source: ImageSource
    /// `nil` where it was made from a larger picture in memory.
    let original: Original?
    let steps: [LoadRecord.Step]
    /// What its head says, where it was not decoded.
    var header: ImageHeader?
}

/// What is told of a picture that is being made.
enum PictureNews: Sendable {
    case progress(FetchProgress)
    /// A partial picture.
    case preview(Image)
}

/// Makes decoded pictures from originals, each once for all who want it, and fills the memory cache.
final class PictureLoader: Sendable {
    private struct Key: Hashable {
        let picture: CacheKey
        let isDeferred: Bool
        let route: OriginalLoader.Route
        let transfer: ImageRequest.Transfer

        init(_ request: ImageRequest, _ route: OriginalLoader.Route) {
            picture = request.pictureKey
            isDeferred = request.defersDecoding
            self.route = route
            transfer = request.transfer
        }
    }

    /// What is made of which bytes.
    struct DecodeKey: Hashable {
        let picture: CacheKey
        let bytes: UInt64

        init(_ request: ImageRequest, _ original: Original) {
            (picture, bytes) = (request.pictureKey, original.checksum)
        }
    }

    /// What decoding gave, and how it went.
    struct Made: Sendable {
        let image: Image
        let steps: [LoadRecord.Step]
    }

    let originals: OriginalLoader
    let memory: ImageMemoryCache
    let limits: DecodeLimits
    private let scaleDownLimit: ByteCount
    let pool: WorkPool
    let gate: InteractionGate
    private let jobs = SharedWork<Key, PictureNews, LoadedPicture>()
    let decodes = SharedWork<DecodeKey, Never, Made>()
    let derived: DerivedPictures

    init(
        _ configuration: ImagePipeline.Configuration,
        _ gate: InteractionGate,
        originals: OriginalLoader,
        memory: ImageMemoryCache
    ) {
        self.gate = gate
        self.originals = originals
        derived = originals.derived
        self.memory = memory
        limits = configuration.decodeLimits
        scaleDownLimit = configuration.scaleDownLimit
        pool = WorkPool(name: "eidetic decode", width: configuration.decodeWidth)
    }

    /// `route` is the one of the request's options unless another is given.
    func picture(
        for request: ImageRequest,
        route: OriginalLoader.Route? = nil,
        context: WorkContext,
        onNews: (@Sendable (PictureNews) -> Void)?
    ) async throws(EideticError) -> LoadedPicture {
        let route = route ?? OriginalLoader.Route(request.options), key = Key(request, route)
        return try await jobs.value(for: key, context: context, onProgress: onNews) { job throws(EideticError) in
            try await self.make(request, route, job.context, job.report)
        }
    }

    /// Jobs that are under way.
    var running: Int { jobs.count + decodes.count }

    /// Answers for which the work of another caller was used.
    var joined: Int { Int(jobs.statistics.joined + decodes.statistics.joined) }

    private func make(
        _ request: ImageRequest,
        _ route: OriginalLoader.Route,
        _ context: WorkContext,
        _ report: @escaping @Sendable (PictureNews) -> Void
    ) async throws(EideticError) -> LoadedPicture {
        let start = derived.begin(request.originalKey)
        defer { derived.end(request.originalKey) }
        if route != .originOnly {
            if let image = memory.decoded(for: request.pictureKey) {
                // A twin has made it since the caller looked.
                return LoadedPicture(image: image, source: .memory, original: nil, steps: [])
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
        _ route: OriginalLoader.Route,
        _ context: WorkContext,
        _ report: @escaping @Sendable (PictureNews) -> Void
    ) async throws(EideticError) -> Original {
        let previews = previews(of: request, context, report)
        defer { previews?.end() }
        return try await originals.original(for: request, route: route, context: context) { arrival in
            if arrival.isReported { report(.progress(arrival.progress)) }
            if let bytes = arrival.bytes { previews?.bytesCame(bytes) }
        }
    }

    /// What is to be asked for at the origin in place of bytes that proved to be broken; throws where nothing is left.
    private func other(
        than original: Original,
        for request: ImageRequest,
        _ route: OriginalLoader.Route,
        after error: EideticError
    ) async throws(EideticError) -> ImageRequest {
        if original.isFromDisk {
            await originals.discard(original, request)
            guard route.asksOrigin else { throw OriginalLoader.miss(request) }
            return request
        }
        guard route.asksOrigin, let remote = original.remote, let rest = request.behind(remote) else { throw error }
        return rest
    }

    /// What shows the picture while it comes; `nil` where nobody wants that.
    private func previews(
        of request: ImageRequest,
        _ context: WorkContext,
        _ report: @escaping @Sendable (PictureNews) -> Void
    ) -> PreviewMaker? {
        guard request.options.contains(.progressive) else { return nil }
        let options = decodeOptions(request)
        return PreviewMaker(pool, context) { [limits] in
            let decoder = PreviewDecoder(options: options, limits: limits, context: context)
            return { bytes throws(EideticError) in
                let image = try bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
                    try decoder.image(of: UnsafeRawBufferPointer(bytes))
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
        _ context: WorkContext,
        since start: UInt64
    ) async throws(EideticError) -> LoadedPicture? {
        guard let base = request.baseKey, let size = request.rendering.size else { return nil }
        let mode = request.rendering.contentMode
        guard let larger = memory.image(for: request.pictureKey, base: base, size: size, mode: mode),
            !larger.isAnimated, larger.isDecoded
        else { return nil }
        try await gate.pass(context)
        let (image, step) = try await pool.run(context) { _ throws(EideticError) in
            let timer = StepTimer()
            let image = try larger.reduced(to: larger.sourceSize.scaled(to: size, mode))
            return (image, timer.step(.decode, "\(larger.size) in memory to \(image.size)"))
        }
        // Where pictures are fresh for a time only, what is made of one would outlive it.
        if originals.policy == .maximumAge {
            derived.keep(image, request, .memory, for: nil, since: start)
        }
        return LoadedPicture(image: image, source: .memory, original: nil, steps: [step])
    }

    /// Decodes and transforms the bytes, has them stored, and fills the memory cache.
    ///
    /// Nothing is kept of bytes that were replaced after `start`, a moment from before the original was read.
    func render(
        _ request: ImageRequest,
        _ original: Original,
        _ context: WorkContext,
        since start: UInt64
    ) async throws(EideticError) -> LoadedPicture {
        try await gate.pass(context)
        do throws(EideticError) {
            guard request.defersDecoding else { return try await decode(request, original, context, since: start) }
            return try await pool.run(context) { _ throws(EideticError) in try self.deferred(request, original) }
        } catch {
            note(error, of: original, request)
            throw error
        }
    }

    /// Remembers that what a server sends is of no use to anybody, so that it is not asked again soon.
    func note(_ error: EideticError, of original: Original, _ request: ImageRequest) {
        if !original.isPicture, isHopeless(request, original, error) { originals.note(error, of: original, request) }
    }

    /// Whether nobody can have a picture of these bytes, whatever size and frames they want.
    private func isHopeless(_ request: ImageRequest, _ original: Original, _ error: EideticError) -> Bool {
        let isBroken = error.isBrokenPicture || error.code == .unsupportedFormat
        if isBroken, !request.options.contains(.preloadAllFrames) { return true }
        guard isBroken || error.code == .limitExceeded else { return false }
        var least = DecodeOptions()
        least.size = PixelSize(width: 1, height: 1)
        return (try? ImageDecoder.memory(for: original.bytes, options: least, limits: limits)) == nil
    }

    private func decode(
        _ request: ImageRequest,
        _ original: Original,
        _ context: WorkContext,
        since start: UInt64
    ) async throws(EideticError) -> LoadedPicture {
        let key = DecodeKey(request, original)
        let made = try await decodes.value(for: key, context: context) { job throws(EideticError) in
            try await self.made(of: original, request, job.context)
        }
        original.storeOnce()
        derived.keep(made.image, request, original.source, for: original.freshFor, since: start)
        return LoadedPicture(
            image: made.image,
            source: original.source,
            original: original,
            steps: original.steps + made.steps
        )
    }

    private func made(
        of original: Original,
        _ request: ImageRequest,
        _ context: WorkContext
    ) async throws(EideticError) -> Made {
        let timer = StepTimer()
        return try await pool.run(context) { context throws(EideticError) in
            let wait = timer.elapsed
            let image = try self.decoded(original, request, context)
            // Only bytes that proved to be a picture are stored.
            original.storeOnce()
            let note = "\(image.format) \(image.sourceSize) to \(image.size)"
            let decoded = timer.step(.decode, "\(note), \(Int(wait.inMilliseconds.rounded())) ms in the queue")
            return try Self.transform(image, of: original, request, [decoded], context)
        }
    }

    /// Decodes what the disk has, on the calling thread; `nil` where it has nothing that can be used at once.
    func pictureAtOnce(for request: ImageRequest) -> LoadedPicture? {
        let start = derived.begin(request.originalKey)
        defer { derived.end(request.originalKey) }
        guard let original = originals.storedAtOnce(request) else { return nil }
        let timer = StepTimer()
        do throws(EideticError) {
            if request.defersDecoding { return try deferred(request, original) }
            let decoded = try decoded(original, request, nil)
            let step = timer.step(.decode, "\(decoded.format) \(decoded.sourceSize) to \(decoded.size), by the caller")
            let made = try Self.transform(decoded, of: original, request, [step], nil)
            derived.keep(made.image, request, original.source, for: original.freshFor, since: start)
            return LoadedPicture(
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
        _ original: Original,
        _ request: ImageRequest,
        _ context: WorkContext?
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
        of original: Original,
        _ request: ImageRequest,
        _ steps: [LoadRecord.Step],
        _ context: WorkContext?
    ) throws(EideticError) -> Made {
        try context?.checkCancellation()
        var image = image
        image.note(original)
        let timer = StepTimer()
        guard let transform = request.transform(for: image) else { return Made(image: image, steps: steps) }
        var changed = try transform.apply(to: image, context)
        (changed.encodedSize, changed.encodedChecksum) = (image.encodedSize, image.encodedChecksum)
        return Made(image: changed, steps: steps + [timer.step(.transform, transform.key)])
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
    var isBrokenPicture: Bool { [.corrupt, .truncated, .notAPicture].contains(code) }
}

extension Image {
    /// Notes what it was made of.
    mutating func note(_ original: Original) {
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
