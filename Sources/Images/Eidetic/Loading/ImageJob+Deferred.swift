import EideticCodecs
import EideticStore

/// Images whose pixels are decoded when they are first used (`avoidDecode`).
///
/// Neither they nor their decoded forms are inserted into the memory cache: only loads that decode fill it.
extension ImageJob {
    /// The largest file whose header is read at once, which takes microseconds, and not on a decoding thread.
    private static let immediateLimit = 1 << 20

    /// Reads the header; the pixels are decoded when they are first used.
    nonisolated(nonsending) func deferredResponse(from data: EncodedImage) async throws(EideticError) -> ImageResponse {
        let deferred = DeferredDecode(of: data, for: load, loader: loader, policy: policy)
        let header = policy.decodePolicy.headerPolicy(for: data.bytes)
        if header == .inProcess, data.bytes.count <= Self.immediateLimit {
            return try deferred.response(from: data, readingHeaderBy: header, context: context)
        }
        var headerPolicy = policy
        headerPolicy.decodePolicy = header
        return try await loader.stage.run(decoding: data.bytes, by: headerPolicy, in: context) {
            context throws(EideticError) in
            try deferred.response(from: data, readingHeaderBy: header, context: context)
        }
    }
}

/// The decode of an image when it is used, which does not hold the job.
private final class DeferredDecode: Sendable {
    /// The bytes, which the image holds as long as it lives: they must not be those that other loads find.
    private let data: EncodedImage
    private let load: Load
    private let loader: ImageLoader
    private let policy: RenditionPolicy

    init(of data: EncodedImage, for load: Load, loader: ImageLoader, policy: RenditionPolicy) {
        self.data = data.detached
        self.load = load
        self.loader = loader
        self.policy = policy
    }

    /// Reads the header and starts to store the bytes; the pixels are decoded when they are first used.
    func response(
        from data: EncodedImage,
        readingHeaderBy header: DecodePolicy,
        context: JobContext
    ) throws(EideticError) -> ImageResponse {
        let timer = StepTimer()
        let (image, header) = try header.read(data.bytes, in: loader.stage.host, context: context) {
            decoding throws(EideticError) in
            try decoding.makeDeferredImage(from: data.bytes, options: policy.options) { context throws(EideticError) in
                try self.decodedOnUse(context: context)
            } decodeShared: { image throws(EideticError) in
                try await self.decodedTogether(image)
            }
        }
        data.storage?.commit(isDecoded: false)
        let step = timer.step(.decode) { [format = image.format, source = image.sourceSize, size = image.size] in
            "left until it is used: \(format) \(source) to \(size)"
        }
        return ImageResponse(
            image.recording(data.provenance),
            source: data.source,
            data: data,
            steps: [step],
            header: header
        )
    }

    /// Decodes on the calling thread, unless memory has the same image by now.
    ///
    /// The result is for the holder of the deferred image alone: its bytes may have been replaced in the cache.
    private func decodedOnUse(context: JobContext?) throws(EideticError) -> Image {
        let known = loader.memory.decodedImage(for: load.request.imageKey)
        if let known, known.provenance == data.provenance { return known }
        let rendition = try loader.stage.decode(data, by: policy, context: context)
        loader.stage.count(isSandboxed: rendition.isSandboxed, of: data.bytes, by: policy)
        return rendition.image.recording(data.provenance)
    }

    /// Decodes on a decoding thread, once for all loads of the same image from the same bytes.
    private func decodedTogether(_ deferredImage: DeferredImage) async throws(EideticError) -> Image {
        let key = DecodeStage.Key(for: load.request, from: data)
        let context = JobContext(priority: load.request.priority)
        try await loader.gate.waitUntilOpen(for: context)
        let stage = loader.stage
        let rendition = try await stage.decodes.value(for: key, context: context) { [self] job throws(EideticError) in
            let timer = StepTimer(job.context)
            let image = try await stage.run(decoding: data.bytes, by: policy, in: job.context) {
                context throws(EideticError) in
                try deferredImage.image(context: context)
            }
            return Rendition(image: image, steps: [timer.step(.decode, detail: image.decodeSummary)])
        }
        deferredImage.fulfill(with: rendition.image)
        return rendition.image
    }
}
