import EideticCodecs
import EideticFetch
import EideticSandbox
import EideticStore

/// Decodes and transforms images on threads of its own; a pipeline and its caches share one.
///
/// Nothing but decoding, transforming and encoding runs on these threads, so that no look-up waits behind a decode.
final class DecodeStage: Sendable {
    let host: DecodeHost
    private let scaleDownLimit: ByteCount
    /// The policy of images for which there is no other.
    private let decodePolicy: DecodePolicy
    /// The policies by host, in lower case.
    private let hostDecodePolicies: [String: DecodePolicy]
    /// The threads for images that are decoded in this process, and for those in the sandbox, which wait for others.
    let pools: (common: WorkPool, sandboxed: WorkPool)
    /// The numbers of images that were decoded in the sandbox, and that were to be.
    let sandboxCounts = Guarded((sandboxed: 0, unsandboxed: 0))
    /// The decodes that run for callers, or wait for their turns.
    let activity = Activity()
    /// The decodes that jobs share.
    let decodes = TaskCoalescer<Key, Never, Rendition>()

    /// Creates a stage; none of its threads starts before the first image.
    init(_ configuration: ImageCache.Configuration, hostDecodePolicies: [String: DecodePolicy] = [:]) {
        scaleDownLimit = configuration.scaleDownLimit
        decodePolicy = configuration.decodePolicy
        self.hostDecodePolicies = hostDecodePolicies
        pools = (
            WorkPool(name: "eidetic decode", maximumThreadCount: configuration.maximumConcurrentDecodes),
            WorkPool(name: "eidetic sandboxed", maximumThreadCount: configuration.maximumConcurrentDecodes)
        )
        var host = DecodeHost(threads: pools.sandboxed)
        host.limits = configuration.decodeLimits
        self.host = host
        if decodePolicy.isSandboxed { host.sandbox.warmUp() }
    }

    var limits: DecodeLimits { host.limits }

    /// Returns the decisions about the pixels of a load: decoded by its own policy, that of its host, or the standard.
    func policy(for load: Load) -> RenditionPolicy {
        let request = load.request
        var policy = policy(for: request.rendering, options: request.options, name: request.name)
        let host = hostDecodePolicies.isEmpty ? nil : request.hostName
        let decodePolicy = request.decodePolicy ?? host.flatMap { hostDecodePolicies[$0] } ?? decodePolicy
        let isFromNetwork = request.resource.hasRemote { server in
            policy.origin = server.origin
            return true
        }
        policy.decodePolicy = decodePolicy.resolved(isFromNetwork: isFromNetwork)
        return policy
    }

    /// Returns the decisions about the pixels of an image with this name that a cache has on disk.
    func policy(for rendering: ImageRequest.Rendering, options: ImageOptions, name: String) -> RenditionPolicy {
        var policy = RenditionPolicy(rendering, options: options, name: name, scaleDownLimit: scaleDownLimit)
        policy.decodePolicy = decodePolicy.resolved(isFromNetwork: true)
        return policy
    }

    /// Parses the header of bytes that the application has.
    func header(of bytes: [UInt8]) throws(EideticError) -> ImageHeader? {
        try decodePolicy.resolved(isFromNetwork: false).header(of: bytes)
    }
}

// MARK: Threads
extension DecodeStage {
    /// Runs work on a decoding thread: on one for the process that decodes `bytes`, of which a few kilobytes suffice.
    ///
    /// In the sandbox an image has its turn by its origin and its memory; one that has to wait for memory begins again
    /// when it has it.
    func run<Value: Sendable>(
        decoding bytes: [UInt8] = [],
        by policy: RenditionPolicy? = nil,
        in context: JobContext = JobContext(),
        operation: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        activity.begin()
        defer { activity.end() }
        guard let policy, policy.decodePolicy.usesSandbox(for: bytes) else {
            return try await pools.common.run(in: context, operation: operation)
        }
        let origin = policy.origin.map { "\($0.scheme)://\($0)" } ?? ""
        let turn = try await host.sandbox.turns.begin(origin, context: context)
        defer { turn.end() }
        while true {
            do throws(EideticError) {
                return try await pools.sandboxed.run(in: context) { context throws(EideticError) in
                    try turn.perform { () throws(EideticError) in try operation(context) }
                }
            } catch {
                guard try await turn.waitForMemory() else { throw error }
            }
        }
    }

    /// Returns the threads that decode these bytes, of which a few kilobytes suffice.
    func pool(for bytes: [UInt8], by policy: RenditionPolicy?) -> WorkPool {
        policy?.decodePolicy.usesSandbox(for: bytes) == true ? pools.sandboxed : pools.common
    }

    /// Counts an image by the process that has decoded it, and returns the note of that for a trace.
    @discardableResult
    func count(isSandboxed: Bool, of bytes: [UInt8], by policy: RenditionPolicy) -> String {
        guard policy.decodePolicy.usesSandbox(for: bytes) else { return "" }
        sandboxCounts.withLock { counts in
            if isSandboxed { counts.sandboxed += 1 } else { counts.unsandboxed += 1 }
        }
        return note(isSandboxed: isSandboxed, of: bytes, by: policy)
    }

    /// Returns the note of a trace about the process that has decoded an image.
    private func note(isSandboxed: Bool, of bytes: [UInt8], by policy: RenditionPolicy) -> String {
        if isSandboxed { return Self.sandboxNote }
        return policy.decodePolicy.usesSandbox(for: bytes) ? ", without the sandbox" : ""
    }

    private static let sandboxNote = ", in the sandbox"
}

// MARK: Renditions
extension DecodeStage {
    /// The identity of a decode: which image is made from which bytes.
    struct Key: Hashable {
        let imageKey: CacheKey
        let checksum: UInt64
        let decodePolicy: DecodePolicy?

        init(for request: ImageRequest, from data: EncodedImage) {
            imageKey = request.imageKey
            checksum = data.provenance.checksum
            decodePolicy = request.decodePolicy
        }
    }

    /// Decodes and transforms bytes, once for all jobs of the same image from them.
    ///
    /// The image before the last of several transforms is another rendition, which jobs share in the same way. Memory
    /// gets it from a job of its own only.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - request: The request for the image.
    ///   - policy: The decisions about its pixels.
    ///   - animation: The animation whose first frames were decoded while the bytes arrived; `nil` if there is none.
    ///   - memory: The images from one of which, of the same bytes, it may be made; `nil` for none.
    ///   - context: The context of the caller.
    /// - Returns: The rendition.
    /// - Throws: The errors of the decoder and of the transform; `cancelled`.
    func rendition(
        of data: EncodedImage,
        for request: ImageRequest,
        by policy: RenditionPolicy,
        playing animation: Image? = nil,
        from memory: ImageMemoryCache? = nil,
        context: JobContext
    ) async throws(EideticError) -> Rendition {
        try await decodes.value(for: Key(for: request, from: data), context: context) {
            [self] decode throws(EideticError) in
            let context = decode.context
            let commit: Acceptance = { data.storage?.commit(isDecoded: true, makePlaceholder: $0) }
            if let animation { return continueAnimation(animation, with: data, by: policy, onAcceptance: commit) }
            // One that was not there when the bytes were loaded.
            if let base = memory?.base(of: request, by: policy), base.image.provenance == data.provenance {
                let made = Rendition(image: base.image, isFromMemory: true)
                return try await transform(made, by: policy.with(base.rest), in: context)
            }
            let isStill = policy.animationTransform == nil || !AnimationDecoder.mayBeAnimated(data.bytes)
            if isStill, let (first, last) = request.beforeLastTransform, let chain = first.rendering.transform {
                let made = try await rendition(of: data, for: first, by: policy.with(chain), context: context)
                return try await transform(made, by: policy.with(last), in: context)
            }
            let timer = StepTimer(context)
            return try await run(decoding: data.bytes, by: policy, in: context) {
                [self] context throws(EideticError) in
                try makeRendition(of: data, by: policy, since: timer, context: context, onAcceptance: commit)
            }
        }
    }

    /// A function that is called once bytes have proved to be an image, with the maker of its placeholder.
    typealias Acceptance = @Sendable (@escaping StoragePlan.PlaceholderMaker) -> Void

    /// Returns the rendition of an animation whose first frames were decoded while its bytes arrived.
    func continueAnimation(
        _ preview: Image,
        with data: EncodedImage,
        by policy: RenditionPolicy,
        onAcceptance: Acceptance
    ) -> Rendition {
        onAcceptance { [self, bytes = data.bytes] in await placeholder(of: bytes, by: policy) }
        let image = preview.complete.recording(data.provenance)
        let note = image.streamed?.note ?? ""
        count(isSandboxed: note == Self.sandboxNote, of: data.bytes, by: policy)
        let detail = "\(image.decodeSummary)\(note), while it arrived"
        return Rendition(image: image, frameCount: 2, steps: [StepTimer().step(.decode, detail: detail)])
    }

    /// Decodes and transforms an image on the calling thread.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - policy: The decisions about the pixels.
    ///   - timer: The timer of the step; it may include the wait for the thread.
    ///   - note: A remark for the trace, or `nil`.
    ///   - context: Cancels the work; without one the thread does not wait for memory.
    ///   - onAcceptance: Called before the transform.
    /// - Returns: The image, and the steps that made it.
    /// - Throws: The errors of the decoder and of the transform; `cancelled`.
    func makeRendition(
        of data: EncodedImage,
        by policy: RenditionPolicy,
        since timer: StepTimer = StepTimer(),
        note: String? = nil,
        context: JobContext?,
        onAcceptance: Acceptance = { _ in }
    ) throws(EideticError) -> Rendition {
        let detachedTime = context?.detachedTime ?? .zero
        var (rendition, ownTime) = try DerivedImageCoding.timed { () throws(EideticError) in
            if let animation = try wholeAnimation(data.bytes, by: policy, context: context) { return animation }
            return try decode(data, by: policy, context: context)
        }
        let image = rendition.image.recording(data.provenance)
        rendition.image = image
        rendition.makingTime = ownTime + (context?.detachedTime ?? .zero) - detachedTime
        if !image.isPartial {
            onAcceptance { [self, bytes = data.bytes] in
                // The first frame of an animation may be transformed already.
                let isWhole = image.hasSourceProportions && (image.streamed == nil || policy.animationTransform == nil)
                guard !isWhole else { return try? ImagePlaceholder(of: image.pixels) }
                return await placeholder(of: bytes, by: policy)
            }
        }
        let place = count(isSandboxed: rendition.isSandboxed, of: data.bytes, by: policy)
        let detail = image.decodeSummary + place + (note.map { ", \($0)" } ?? "")
        rendition.steps = [timer.step(.decode, detail: detail)]
        return try rendition.transformed(by: policy, context: context)
    }

    /// Applies the last transforms of a chain to what the first ones have made, on a decoding thread.
    func transform(
        _ rendition: Rendition,
        by policy: RenditionPolicy,
        in context: JobContext
    ) async throws(EideticError) -> Rendition {
        activity.begin()
        defer { activity.end() }
        return try await pools.common.run(in: context, isContinuation: true) { context throws(EideticError) in
            try rendition.transformed(by: policy, context: context)
        }
    }

    /// Returns the animation of a whole file; `nil` if there is none that is decoded frame by frame, or it is shown as
    /// a still image: one with more frames than are played, or a damaged one where a partial image is accepted.
    private func wholeAnimation(
        _ bytes: [UInt8],
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Rendition? {
        do throws(EideticError) {
            return try openAnimation(bytes, isComplete: true, by: policy, context: context)
        } catch {
            if policy.options.acceptsPartial, error.indicatesBrokenImage { return nil }
            guard error.code == .limitExceeded,
                let header = try policy.decodePolicy.header(of: bytes, in: host, context: context),
                header.frameCount > limits.frames
            else { throw error }
            return nil
        }
    }

    /// Decodes an image on the calling thread, which waits for memory only if there is a context.
    func decode(
        _ data: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Rendition {
        let options = options(for: data.bytes, by: policy, context: context)
        return try policy.decodePolicy.read(data.bytes, in: host, context: context) { decoding throws(EideticError) in
            try decoding.render(data.bytes, options: options)
        }
    }

    /// Returns the options for bytes, whose header is read if they depend on it.
    private func options(for bytes: [UInt8], by policy: RenditionPolicy, context: JobContext?) -> DecodeOptions {
        policy.options { () throws(EideticError) in
            try policy.decodePolicy.header(of: bytes, in: host, context: context)
        }
    }

    /// Returns the placeholder of an image of which only a part was decoded; `nil` if decoding it fails.
    private func placeholder(of bytes: [UInt8], by policy: RenditionPolicy) async -> ImagePlaceholder? {
        var options = DecodeOptions()
        // Placeholders need few pixels, which many decoders make faster.
        options.size = PixelSize(width: 128, height: 128)
        return try? await run(decoding: bytes, by: policy) { [self, options] context throws(EideticError) in
            let rendition = try policy.decodePolicy.decode(bytes, options: options, in: host, context: context)
            return try ImagePlaceholder(of: rendition.image.pixels)
        }
    }

    func decodeDerived(
        _ bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Image {
        guard !RawPixels.matches(bytes) else { return try DerivedImageCoding.decode(bytes, limits: limits) }
        let rendition = try policy.decodePolicy.decode(bytes, options: options, in: host, context: context)
        count(isSandboxed: rendition.isSandboxed, of: bytes, by: policy)
        return rendition.image
    }

    /// The longest time for a second look at the header of an image that has failed: whoever has kept a process busy
    /// until its limit does not get that twice.
    private static let secondLookTime = Duration.seconds(2)

    /// Returns whether the header alone is a reason to refuse an image, or takes long.
    func isRefused(_ bytes: [UInt8], options: DecodeOptions, by policy: RenditionPolicy) async -> Bool {
        var host = host
        host.limits.duration = min(limits.duration, Self.secondLookTime)
        let accepted: Void? = try? await run(decoding: bytes, by: policy) { [host] context throws(EideticError) in
            try policy.decodePolicy.read(bytes, in: host, context: context) { decoding throws(EideticError) in
                try decoding.check(bytes, options: options)
            }
        }
        return accepted == nil
    }

    /// Returns the animation of the bytes so far, with its first frame; `nil` if there is none that is decoded frame by
    /// frame, its first frame has not arrived, or the policy asks for other frames.
    func openAnimation(
        _ bytes: [UInt8],
        isComplete: Bool,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Rendition? {
        guard policy.streamsAnimations, AnimationDecoder.mayBeAnimated(bytes) else { return nil }
        let options = isComplete ? options(for: bytes, by: policy, context: context) : policy.options
        let opened = try policy.decodePolicy.read(bytes, in: host, context: context) { decoding throws(EideticError) in
            try decoding.openAnimation(
                bytes,
                isComplete: isComplete,
                options: options,
                transform: policy.animationTransform
            )
        }
        guard let opened else { return nil }
        let signature = Array(bytes.prefix(ImageFormat.maximumSignatureLength))
        let pool = pool(for: signature, by: policy)
        let info = opened.source.info
        let isSandboxed = opened.source is SandboxedAnimation
        let animation = AnimatedImage(
            source: opened.source,
            poster: opened.poster,
            note: note(isSandboxed: isSandboxed, of: bytes, by: policy)
        ) { context, operation in
            pool.enqueue(in: context, operation: operation)
        }
        let image = Image(
            frames: [Image.Frame(pixels: opened.poster, duration: info.durations.first ?? .zero)],
            loopCount: info.loopCount,
            format: info.format,
            sourceSize: info.sourceSize,
            scale: policy.options.scale,
            isPartial: !isComplete
        )
        return Rendition(image: image.playing(animation), frameCount: max(2, info.frameCount), isSandboxed: isSandboxed)
    }
}

// MARK: Previews
extension DecodeStage {
    /// Returns a function that makes previews of ever more bytes of one image; on a decoding thread.
    func makePreviewDecoder(by policy: RenditionPolicy, context: JobContext) -> PreviewSource.Decode {
        let decoder = PreviewDecoder(options: policy.options, limits: limits, context: context)
        let sandboxed = SandboxedPreview(
            options: policy.options,
            limits: limits,
            pool: host.sandbox,
            context: context,
            pausing: pools.sandboxed
        )
        return { [host] bytes throws(EideticError) in
            let preview = try policy.decodePolicy.read(bytes, in: host, context: context) {
                decoding throws(EideticError) in
                decoding.isSandboxed ? try sandboxed.preview(of: bytes) : try decoder.preview(of: bytes)
            }
            guard let preview else { return nil }
            return try policy.transform(for: preview)?.apply(to: preview) ?? preview
        }
    }

    /// Makes a smaller image from the first frame of a larger one, which is whole, on a decoding thread.
    func downscale(
        _ image: Image,
        for options: DecodeOptions,
        to requestedSize: PixelSize,
        context: JobContext
    ) async throws(EideticError) -> Rendition {
        let timer = StepTimer(context)
        return try await run(in: context) { _ throws(EideticError) in
            let size = image.sourceSize.scaledBeforeCrop(to: requestedSize, mode: options.contentMode)
            let scaled = size == image.size ? image.pixels : try Resampler.resample(image.pixels, to: size)
            let smaller = image.replacingFrames([Image.Frame(pixels: try scaled.cropped(for: options))]).compacted()
            return Rendition(
                image: smaller,
                steps: [timer.step(.decode, detail: "\(image.size) in memory to \(smaller.size)")]
            )
        }
    }
}

extension Rendition {
    /// Returns the rendition after the policy's transform, if that applies to the image, as memory keeps it.
    fileprivate func transformed(by policy: RenditionPolicy, context: JobContext?) throws(EideticError) -> Rendition {
        try context?.checkCancellation()
        let timer = StepTimer()
        var rendition = self
        if let transform = policy.transform(for: image) {
            let (transformed, time) = try DerivedImageCoding.timed { () throws(EideticError) in
                try transform.apply(to: image, context: context)
            }
            rendition.image = transformed
            rendition.makingTime += time
            rendition.steps.append(timer.step(.transform, detail: transform.key))
        }
        rendition.image = rendition.image.compacted()
        return rendition
    }
}

extension Image {
    var decodeSummary: String { "\(format) \(sourceSize) to \(size)" }
}
