import EideticCodecs
import EideticCore

/// Pictures whose pixels are made when they are used (`avoidDecode`).
///
/// Neither they nor what they become are in the memory cache, which is filled by loads that decode.
extension ImageLoader {
    /// Reads the head of the bytes and has them stored; the rest is left until somebody uses the pixels.
    func deferred(
        _ request: ImageRequest,
        _ original: EncodedImage
    ) throws(EideticError) -> Output {
        // Kept as long as the picture is, so not what others find while it is on its way to the disk.
        let timer = StepTimer(), request = request.decodingImmediately, kept = original.copy
        var (image, header) = try ImageDecoder.makeDeferredImage(
            from: original.bytes,
            options: decodeOptions(request),
            limits: limits
        ) { [self] context throws(EideticError) in
            try decodedLate(request, kept, context)
        } share: { [self] picture throws(EideticError) in
            try await shared(picture, request, kept)
        }
        image.note(original)
        original.storeOnce()
        let step = timer.step(
            .decode,
            detail: "left until it is used: \(image.format) \(image.sourceSize) to \(image.size)"
        )
        let steps = original.steps + [step]
        return Output(image: image, source: original.source, original: original, steps: steps, header: header)
    }

    /// Decodes on the calling thread what was left, unless memory has the same by now.
    ///
    /// What comes of it belongs to who holds the picture alone: it may be old by now, and memory is filled by loads.
    private func decodedLate(
        _ request: ImageRequest,
        _ original: EncodedImage,
        _ context: JobContext?
    ) throws(EideticError) -> Image {
        if let known = memory.decodedImage(for: request.imageKey), known.encodedChecksum == original.checksum {
            return known
        }
        var image = try decoded(original, request, context)
        image.note(original)
        return image
    }

    /// Decodes together with all who want the same of the same bytes, on a thread for that.
    private func shared(
        _ picture: DeferredImage,
        _ request: ImageRequest,
        _ original: EncodedImage
    ) async throws(EideticError) -> Image {
        let key = DecodeKey(request, original), context = JobContext(priority: request.priority)
        try await gate.pass(context)
        let made = try await decodes.value(for: key, context: context) { job throws(EideticError) in
            let timer = StepTimer()
            let image = try await self.pool.run(in: job.context) { context throws(EideticError) in
                try picture.image(context: context)
            }
            let note = "\(image.format) \(image.sourceSize) to \(image.size)"
            return Rendition(image: image, steps: [timer.step(.decode, detail: note)])
        }
        picture.fulfill(with: made.image)
        return made.image
    }
}
