import EideticCodecs
import EideticCore

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
    }

    /// The limits of each decode.
    let limits: DecodeLimits
    private let scaleDownLimit: ByteCount
    private let pools: DecodePools

    /// Creates a stage with at most `maximumConcurrentDecodes` threads; none starts before the first image.
    init(limits: DecodeLimits, scaleDownLimit: ByteCount, maximumConcurrentDecodes: Int) {
        (self.limits, self.scaleDownLimit) = (limits, scaleDownLimit)
        pools = DecodePools(name: "eidetic decode", maximumThreadCount: maximumConcurrentDecodes)
    }

    /// Returns the decisions about the pixels of a load.
    func policy(for load: Load) -> RenditionPolicy {
        policy(for: load.request.rendering, options: load.request.options, name: load.request.name)
    }

    /// Returns the decisions about the pixels of an image with this name.
    func policy(for rendering: ImageRequest.Rendering, options: ImageOptions, name: String) -> RenditionPolicy {
        RenditionPolicy(rendering, options: options, name: name, scaleDownLimit: scaleDownLimit)
    }
}

// MARK: Threads
extension DecodeStage {
    /// Runs work on a decoding thread: on one for the format of `bytes`, of which a few kilobytes suffice.
    func run<Value: Sendable>(
        decoding bytes: [UInt8] = [],
        in context: JobContext = JobContext(),
        operation: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await pools.pool(for: bytes).run(in: context, operation: operation)
    }

    /// Queues work for a decoding thread, and returns at once.
    func enqueue(decoding bytes: [UInt8], in context: JobContext, operation: @escaping @Sendable () -> Void) {
        pools.pool(for: bytes).enqueue(in: context, operation: operation)
    }

    /// Decodes and transforms an image on a decoding thread.
    func rendition(
        of encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext
    ) async throws(EideticError) -> Rendition {
        let timer = StepTimer(context)
        return try await run(decoding: encodedImage.bytes, in: context) { [self] context throws(EideticError) in
            try rendition(of: encodedImage, by: policy, since: timer, note: nil, context: context)
        }
    }
}

// MARK: Decode and transform
extension DecodeStage {
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
        let (image, ownTime) = try DerivedImageCoding.timed { () throws(EideticError) in
            try decode(encodedImage, by: policy, context: context)
        }
        let decodingTime = ownTime + (context?.detachedTime ?? .zero) - detachedTime
        encodedImage.storeOnce(isDecoded: true) { [self, bytes = encodedImage.bytes] in
            guard !image.hasSourceProportions else { return try? ImagePlaceholder(of: image.pixels) }
            return await placeholder(of: bytes)
        }
        let step = timer.step(.decode, detail: image.decodeSummary + (note.map { ", \($0)" } ?? ""))
        try context?.checkCancellation()
        let transformTimer = StepTimer()
        guard let transform = policy.transform(for: image) else {
            return Rendition(image: image, steps: [step], makingTime: decodingTime)
        }
        let (transformed, transformTime) = try DerivedImageCoding.timed { () throws(EideticError) in
            try transform.apply(to: image, context: context)
        }
        return Rendition(
            image: transformed,
            steps: [step, transformTimer.step(.transform, detail: transform.key)],
            makingTime: decodingTime + transformTime
        )
    }

    /// Returns the placeholder of an image of which only a part was decoded; `nil` if decoding it fails.
    private func placeholder(of bytes: [UInt8]) async -> ImagePlaceholder? {
        var options = DecodeOptions()
        // Placeholders need few pixels, which many decoders make faster.
        options.size = PixelSize(width: 128, height: 128)
        return try? await run(decoding: bytes) { [limits, options] context throws(EideticError) in
            try ImagePlaceholder(
                of: ImageDecoder.decode(bytes, options: options, limits: limits, context: context).pixels
            )
        }
    }

    /// Decodes an image on the calling thread, which waits for memory only if there is a context.
    func decode(
        _ encodedImage: EncodedImage,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Image {
        let bytes = encodedImage.bytes, options = policy.options(for: bytes)
        let image =
            if let context {
                try ImageDecoder.decode(bytes, options: options, limits: limits, context: context)
            } else {
                try ImageDecoder.decode(bytes, options: options, limits: limits)
            }
        return image.recording(encodedImage.provenance)
    }

    /// Returns a function that makes previews of ever more bytes of one image; on a decoding thread.
    func makePreviewDecoder(by policy: RenditionPolicy, context: JobContext) -> PreviewGenerator.Decode {
        let decoder = PreviewDecoder(options: policy.options, limits: limits, context: context)
        return { bytes throws(EideticError) in
            guard let preview = try decoder.preview(of: bytes) else { return nil }
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
