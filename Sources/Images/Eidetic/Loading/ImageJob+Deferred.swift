import EideticCodecs
import EideticCore
import EideticStore

/// Images whose pixels are decoded when they are first used (`avoidDecode`).
///
/// Neither they nor their decoded forms are inserted into the memory cache: only loads that decode fill it.
extension ImageJob {
    /// The largest file whose header is read at once, which takes microseconds, and not on a decoding thread.
    private static let immediateLimit = 1 << 20

    /// Reads the header; the pixels are decoded when they are first used.
    nonisolated(nonsending) func deferredResponse(from data: EncodedImage) async throws(EideticError) -> ImageResponse {
        var headerPolicy = policy
        headerPolicy.decodePolicy = policy.decodePolicy.headerPolicy(for: data.bytes)
        if headerPolicy.decodePolicy == .inProcess, data.bytes.count <= Self.immediateLimit {
            return try loader.deferredResponse(
                from: data,
                for: load,
                by: policy,
                header: headerPolicy,
                context: context
            )
        }
        return try await loader.stage.run(decoding: data.bytes, by: headerPolicy, in: context) {
            [load, loader, policy, headerPolicy] context throws(EideticError) in
            try loader.deferredResponse(from: data, for: load, by: policy, header: headerPolicy, context: context)
        }
    }
}

extension ImageLoader {
    /// Reads the header and starts to store the bytes; the pixels are decoded when they are first used.
    fileprivate func deferredResponse(
        from data: EncodedImage,
        for load: Load,
        by policy: RenditionPolicy,
        header headerPolicy: RenditionPolicy,
        context: JobContext
    ) throws(EideticError) -> ImageResponse {
        // The image holds these bytes as long as it lives, so they must not be those that other loads find.
        let timer = StepTimer()
        let held = data.detached
        let (image, header) = try stage.read(data.bytes, by: headerPolicy, context: context) {
            decoding throws(EideticError) in
            try decoding.makeDeferredImage(from: data.bytes, options: policy.options) {
                [self] context throws(EideticError) in
                try decodedOnUse(held, for: load, by: policy, context: context)
            } decodeShared: { [self] image throws(EideticError) in
                try await decodedTogether(image, from: held, for: load, by: policy)
            }
        }
        data.storage?.commit(isDecoded: false)
        let step = timer.step(.decode, detail: "left until it is used: \(image.decodeSummary)")
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
    private func decodedOnUse(
        _ encodedImage: EncodedImage,
        for load: Load,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Image {
        if let image = memory.decodedImage(for: load.request.imageKey), image.provenance == encodedImage.provenance {
            return image
        }
        let rendition = try stage.decode(encodedImage, by: policy, context: context)
        stage.count(isSandboxed: rendition.isSandboxed, of: encodedImage.bytes, by: policy)
        return rendition.image.recording(encodedImage.provenance)
    }

    /// Decodes on a decoding thread, once for all loads of the same image from the same bytes.
    private func decodedTogether(
        _ deferredImage: DeferredImage,
        from encodedImage: EncodedImage,
        for load: Load,
        by policy: RenditionPolicy
    ) async throws(EideticError) -> Image {
        let key = DecodeKey(for: load.request, from: encodedImage)
        let context = JobContext(priority: load.request.priority)
        try await gate.waitUntilOpen(for: context)
        let rendition = try await decodes.value(for: key, context: context) { job throws(EideticError) in
            let timer = StepTimer(job.context)
            let image = try await self.stage.run(decoding: encodedImage.bytes, by: policy, in: job.context) {
                context throws(EideticError) in
                try deferredImage.image(context: context)
            }
            return Rendition(image: image, steps: [timer.step(.decode, detail: image.decodeSummary)])
        }
        deferredImage.fulfill(with: rendition.image)
        return rendition.image
    }
}
