import EideticCodecs
import EideticCore
import EideticSandbox

/// Decodes and transforms images on threads of its own; a pipeline and its caches share one.
///
/// Nothing but decoding, transforming and encoding runs on these threads, so that no look-up waits behind a decode.
final class DecodeStage: Sendable {
    /// A decoded and transformed image, and the steps that made it.
    struct Rendition: Sendable {
        let image: Image
        let steps: [LoadTrace.Step]
        /// The processor time of the decode and the transform; zero if it was not measured.
        var makingTime = Duration.zero
        /// The number of frames in the file; `nil` if it is not known.
        var frameCount: Int?
    }

    /// The limits of each decode.
    let limits: DecodeLimits
    /// The processes of the images that are decoded in the sandbox.
    let sandbox: HelperPool
    private let scaleDownLimit: ByteCount
    private let decodePolicies: DecodePolicies
    let pools: DecodePools
    /// The numbers of images that were decoded in the sandbox, and that were to be.
    let sandboxCounts = Guarded((sandboxed: 0, unsandboxed: 0))

    /// Creates a stage with at most `maximumConcurrentDecodes` threads; none starts before the first image.
    init(
        limits: DecodeLimits,
        scaleDownLimit: ByteCount,
        maximumConcurrentDecodes: Int,
        decodePolicies: DecodePolicies = DecodePolicies(),
        sandbox: HelperPool = .shared
    ) {
        (self.limits, self.scaleDownLimit) = (limits, scaleDownLimit)
        (self.decodePolicies, self.sandbox) = (decodePolicies, sandbox)
        if decodePolicies.standard.isSandboxed { sandbox.warmUp() }
        pools = DecodePools(name: "eidetic decode", maximumThreadCount: maximumConcurrentDecodes)
    }

    /// Returns the decisions about the pixels of a load.
    func policy(for load: Load) -> RenditionPolicy {
        let request = load.request
        var policy = RenditionPolicy(
            request.rendering,
            options: request.options,
            name: request.name,
            scaleDownLimit: scaleDownLimit
        )
        policy.decodePolicy = decodePolicies.policy(for: request)
        return policy
    }

    /// Returns the decisions about the pixels of an image with this name that a cache has on disk.
    func policy(for rendering: ImageRequest.Rendering, options: ImageOptions, name: String) -> RenditionPolicy {
        var policy = RenditionPolicy(rendering, options: options, name: name, scaleDownLimit: scaleDownLimit)
        policy.decodePolicy = decodePolicies.standard.resolved(isFromNetwork: true)
        return policy
    }

    /// Parses the header of bytes that the application has.
    func header(of bytes: [UInt8]) throws(EideticError) -> ImageHeader? {
        try decodePolicies.standard.resolved(isFromNetwork: false).header(of: bytes, in: sandbox)
    }
}

// MARK: Threads
extension DecodeStage {
    /// Runs work on a decoding thread: on one for the process that decodes `bytes`, of which a few kilobytes suffice.
    func run<Value: Sendable>(
        decoding bytes: [UInt8] = [],
        by policy: RenditionPolicy? = nil,
        in context: JobContext = JobContext(),
        operation: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await pool(for: bytes, by: policy).run(in: context, operation: operation)
    }

    /// Queues work for a decoding thread, and returns at once.
    func enqueue(
        decoding bytes: [UInt8],
        by policy: RenditionPolicy,
        in context: JobContext,
        operation: @escaping @Sendable () -> Void
    ) {
        pool(for: bytes, by: policy).enqueue(in: context, operation: operation)
    }

    /// Returns the threads that decode these bytes, of which a few kilobytes suffice.
    private func pool(for bytes: [UInt8], by policy: RenditionPolicy?) -> WorkPool {
        pools.pool(for: bytes, policy: policy?.decodePolicy)
    }

    /// Decodes and transforms an image on a decoding thread.
    func rendition(
        of encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext
    ) async throws(EideticError) -> Rendition {
        let timer = StepTimer(context)
        return try await run(decoding: encodedImage.bytes, by: policy, in: context) {
            [self] context throws(EideticError) in
            try rendition(of: encodedImage, by: policy, since: timer, note: nil, context: context)
        }
    }
}

// MARK: Decode and transform
extension DecodeStage {
    /// Returns the rendition of an animation whose first frames were decoded while its bytes arrived.
    func rendition(
        continuing preview: Image,
        of encodedImage: EncodedImage,
        by policy: RenditionPolicy
    ) -> Rendition {
        encodedImage.storage?.commit(isDecoded: true) { [self, bytes = encodedImage.bytes] in
            await placeholder(of: bytes, by: policy)
        }
        let image = preview.complete.recording(encodedImage.provenance), note = image.streamed?.note ?? ""
        count(isSandboxed: note == DecodePolicy.Decoded.note(isSandboxed: true), of: encodedImage.bytes, by: policy)
        let detail = "\(image.decodeSummary)\(note), while it arrived"
        return Rendition(image: image, steps: [StepTimer().step(.decode, detail: detail)], frameCount: 2)
    }

    /// Decodes and transforms an image on the calling thread.
    ///
    /// - Parameters:
    ///   - encodedImage: The bytes. They are stored once they have proved to be an image.
    ///   - policy: The decisions about the pixels.
    ///   - timer: The timer of the step; it may include the wait for the thread.
    ///   - note: A remark for the trace, or `nil`.
    ///   - context: Cancels the work; without one the thread does not wait for memory.
    /// - Returns: The image, and the steps that made it.
    /// - Throws: The errors of the decoder and of the transform; `cancelled`.
    func rendition(
        of encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        since timer: StepTimer = StepTimer(),
        note: String?,
        context: JobContext?
    ) throws(EideticError) -> Rendition {
        let detachedTime = context?.detachedTime ?? .zero
        let (decoded, ownTime) = try DerivedImageCoding.timed { () throws(EideticError) in
            if let animation = try animation(of: encodedImage, by: policy, context: context) { return animation }
            return try result(of: encodedImage, by: policy, context: context)
        }
        let image = decoded.image
        let decodingTime = ownTime + (context?.detachedTime ?? .zero) - detachedTime
        encodedImage.storage?.commit(isDecoded: true) { [self, bytes = encodedImage.bytes] in
            // The first frame of an animation may be transformed already.
            let isWhole = image.hasSourceProportions && (image.streamed == nil || policy.animationTransform == nil)
            guard !isWhole else { return try? ImagePlaceholder(of: image.pixels) }
            return await placeholder(of: bytes, by: policy)
        }
        let place = count(isSandboxed: decoded.isSandboxed, of: encodedImage.bytes, by: policy)
        let step = timer.step(.decode, detail: image.decodeSummary + place + (note.map { ", \($0)" } ?? ""))
        try context?.checkCancellation()
        let transformTimer = StepTimer()
        guard let transform = policy.transform(for: image) else {
            return Rendition(
                image: image,
                steps: [step],
                makingTime: decodingTime,
                frameCount: decoded.frameCount
            )
        }
        let (transformed, transformTime) = try DerivedImageCoding.timed { () throws(EideticError) in
            try transform.apply(to: image, context: context)
        }
        return Rendition(
            image: transformed,
            steps: [step, transformTimer.step(.transform, detail: transform.key)],
            makingTime: decodingTime + transformTime,
            frameCount: decoded.frameCount
        )
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
        let isFallback = !isSandboxed && policy.decodePolicy.usesSandbox(for: bytes)
        return isFallback ? DecodePolicy.Decoded.fallbackNote : DecodePolicy.Decoded.note(isSandboxed: isSandboxed)
    }

    /// Returns the placeholder of an image of which only a part was decoded; `nil` if decoding it fails.
    private func placeholder(of bytes: [UInt8], by policy: RenditionPolicy) async -> ImagePlaceholder? {
        var options = DecodeOptions()
        // Placeholders need few pixels, which many decoders make faster.
        options.size = PixelSize(width: 128, height: 128)
        return try? await run(decoding: bytes, by: policy) { [self, options] context throws(EideticError) in
            try ImagePlaceholder(
                of: decode(bytes, options: options, policy: policy.decodePolicy, context: context).image.pixels
            )
        }
    }

    /// Decodes an image on the calling thread, which waits for memory only if there is a context.
    func decode(
        _ encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Image {
        let decoded = try result(of: encodedImage, by: policy, context: context)
        count(isSandboxed: decoded.isSandboxed, of: encodedImage.bytes, by: policy)
        return decoded.image
    }

    private func result(
        of encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> DecodePolicy.Decoded {
        let bytes = encodedImage.bytes
        let options = policy.options { () throws(EideticError) in
            try header(of: bytes, by: policy, context: context)
        }
        let decoded = try decode(bytes, options: options, policy: policy.decodePolicy, context: context)
        return DecodePolicy.Decoded(
            image: decoded.image.recording(encodedImage.provenance),
            frameCount: decoded.frameCount,
            isSandboxed: decoded.isSandboxed
        )
    }

    /// Parses the header of an image on the calling thread, within the limits of a decode.
    func header(
        of bytes: [UInt8],
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> ImageHeader? {
        let threads = context == nil ? nil : pools.sandboxed
        return try policy.decodePolicy.header(
            of: bytes,
            limits: limits,
            context: context,
            in: sandbox,
            pausing: threads
        )
    }

    /// Decodes bytes on the calling thread.
    func decode(
        _ bytes: [UInt8],
        options: DecodeOptions,
        policy: DecodePolicy,
        context: JobContext?
    ) throws(EideticError) -> DecodePolicy.Decoded {
        try policy.decode(
            bytes,
            options: options,
            limits: limits,
            context: context,
            in: sandbox,
            // Without a context the thread belongs to the caller.
            pausing: context == nil ? nil : pools.sandboxed
        )
    }

    /// Returns an animation that is decoded frame by frame, with its first frame; `nil` if the bytes have none, or the
    /// policy asks for other frames.
    private func animation(
        of encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> DecodePolicy.Decoded? {
        let animation = try animation(of: encodedImage.bytes, isComplete: true, by: policy, context: context)
        return animation.map { animation in
            DecodePolicy.Decoded(
                image: animation.image.recording(encodedImage.provenance),
                frameCount: animation.frameCount,
                isSandboxed: animation.isSandboxed
            )
        }
    }

    /// Returns the animation of the bytes so far, with its first frame; `nil` if there is none that is decoded frame by
    /// frame, or its first frame has not arrived.
    func animation(
        of bytes: [UInt8],
        isComplete: Bool,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> DecodePolicy.Decoded? {
        guard policy.streamsAnimations, AnimationDecoder.mayBeAnimated(bytes) else { return nil }
        guard
            let opened = try openAnimation(bytes, isComplete: isComplete, by: policy, context: context)
        else { return nil }
        let signature = Array(bytes.prefix(ImageFormat.maximumSignatureLength))
        let pool = pool(for: signature, by: policy), info = opened.source.info
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
        return DecodePolicy.Decoded(
            image: image.playing(animation),
            frameCount: max(2, info.frameCount),
            isSandboxed: isSandboxed
        )
    }
}

// MARK: Previews
extension DecodeStage {
    /// Returns a function that makes previews of ever more bytes of one image; on a decoding thread.
    func makePreviewDecoder(by policy: RenditionPolicy, context: JobContext) -> PreviewGenerator.Decode {
        let decoder = PreviewDecoder(options: policy.options, limits: limits, context: context)
        let sandboxed = SandboxedPreview(
            options: policy.options,
            limits: limits,
            pool: sandbox,
            context: context,
            pausing: pools.sandboxed
        )
        return { [self] bytes throws(EideticError) in
            let preview: Image? = try policy.decodePolicy.perform(reading: bytes, in: sandbox) {
                () throws(EideticError) in
                try decoder.preview(of: bytes)
            } sandboxed: { _ throws(EideticError) in
                try sandboxed.preview(of: bytes)
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
            let smaller = image.replacingFrames([Image.Frame(pixels: try scaled.cropped(for: options))])
            return Rendition(
                image: smaller,
                steps: [timer.step(.decode, detail: "\(image.size) in memory to \(smaller.size)")]
            )
        }
    }
}

extension Image {
    /// The format and sizes, for a trace.
    var decodeSummary: String { "\(format) \(sourceSize) to \(size)" }
}
