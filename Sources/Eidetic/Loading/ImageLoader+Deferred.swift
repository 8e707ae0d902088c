import EideticCodecs
import EideticCore

/// Images whose pixels are decoded when they are first used (`avoidDecode`).
///
/// Neither they nor their decoded forms are inserted into the memory cache: only loads that decode fill it.
extension ImageLoader {
    /// Reads the header and starts to store the bytes; the pixels are decoded when they are first used.
    func deferredImage(
        from encodedImage: EncodedImage,
        for request: ImageRequest
    ) throws(EideticError) -> Output {
        // The image holds these bytes as long as it lives, so they must not be those that other loads find.
        let timer = StepTimer(), request = request.decodingImmediately, held = encodedImage.detached
        var (image, header) = try ImageDecoder.makeDeferredImage(
            from: encodedImage.bytes,
            options: decodeOptions(for: request),
            limits: decodeLimits
        ) { [self] context throws(EideticError) in
            try decodedOnUse(held, for: request, context: context)
        } decodeShared: { [self] image throws(EideticError) in
            try await decodedTogether(image, from: held, for: request)
        }
        image.recordSource(encodedImage)
        encodedImage.storeOnce()
        let step = timer.step(.decode, detail: "left until it is used: \(image.decodeSummary)")
        let steps = encodedImage.steps + [step]
        return Output(
            image: image,
            source: encodedImage.source,
            encodedImage: encodedImage,
            steps: steps,
            header: header
        )
    }

    /// Decodes on the calling thread, unless memory has the same image by now.
    ///
    /// The result is for the holder of the deferred image alone: its bytes may have been replaced in the cache.
    private func decodedOnUse(
        _ encodedImage: EncodedImage,
        for request: ImageRequest,
        context: JobContext?
    ) throws(EideticError) -> Image {
        if let image = memory.decodedImage(for: request.imageKey), image.encodedChecksum == encodedImage.checksum {
            return image
        }
        return try decodedImage(from: encodedImage, for: request, context: context)
    }

    /// Decodes on a thread of the pool, once for all loads of the same image from the same bytes.
    private func decodedTogether(
        _ deferredImage: DeferredImage,
        from encodedImage: EncodedImage,
        for request: ImageRequest
    ) async throws(EideticError) -> Image {
        let key = DecodeKey(for: request, from: encodedImage), context = JobContext(priority: request.priority)
        try await gate.waitUntilOpen(for: context)
        let rendition = try await decodes.value(for: key, context: context) { job throws(EideticError) in
            let timer = StepTimer()
            let pool = self.pools.pool(for: encodedImage.bytes)
            let image = try await pool.run(in: job.context) { context throws(EideticError) in
                try deferredImage.image(context: context)
            }
            return Rendition(image: image, steps: [timer.step(.decode, detail: image.decodeSummary)])
        }
        deferredImage.fulfill(with: rendition.image)
        return rendition.image
    }
}
