import EideticCodecs
import EideticCore

/// Pictures whose pixels are made when they are used (`avoidDecode`).
///
/// They are never in the memory cache themselves: what they become is, from the moment when it is decoded.
extension PictureLoader {
    /// Reads the head of the bytes and has them stored; the rest is left until somebody uses the pixels.
    func deferred(
        _ request: ImageRequest,
        _ original: Original,
        since start: UInt64
    ) throws(EideticError) -> LoadedPicture {
        // Kept as long as the picture is, so not what others find while it is on its way to the disk.
        let timer = StepTimer(), request = request.decoding, kept = original.copy
        var (image, header) = try ImageDecoder.deferred(
            original.bytes,
            options: decodeOptions(request),
            limits: limits
        ) { [self] context throws(EideticError) in
            try decodedLate(request, kept, since: start, age: timer, context)
        } share: { [self] picture throws(EideticError) in
            try await shared(picture, request, kept)
        }
        image.note(original)
        original.storeOnce()
        let step = timer.step(.decode, "left until it is used: \(image.format) \(image.sourceSize) to \(image.size)")
        let steps = original.steps + [step]
        return LoadedPicture(image: image, source: original.source, original: original, steps: steps, header: header)
    }

    /// Decodes on the calling thread what was left, unless memory has it by now.
    private func decodedLate(
        _ request: ImageRequest,
        _ original: Original,
        since start: UInt64,
        age: StepTimer,
        _ context: WorkContext?
    ) throws(EideticError) -> Image {
        let known = memory.image(for: request.pictureKey)
        if let known, known.encodedChecksum == original.checksum { return known }
        do throws(EideticError) {
            var image = try decoded(original, request, context)
            image.note(original)
            // What memory has by now is made of newer bytes.
            if known == nil, !derived.isReplaced(request.originalKey, since: start) {
                keep(image, request, original, after: age.elapsed)
            }
            return image
        } catch  where error.isBrokenPicture {
            // Its head was all that was known when it was stored.
            Task.detached { [originals] in await originals.discard(original, request) }
            throw error
        }
    }

    /// Decodes together with all who want the same of the same bytes, on a thread for that.
    private func shared(
        _ picture: DeferredPicture,
        _ request: ImageRequest,
        _ original: Original
    ) async throws(EideticError) -> Image {
        let key = DecodeKey(request, original), context = WorkContext(priority: request.priority)
        try await gate.pass(context)
        let made = try await decodes.value(for: key, context: context) { job throws(EideticError) in
            let timer = StepTimer()
            let image = try await self.pool.run(job.context) { context throws(EideticError) in
                try picture.picture(context)
            }
            let note = "\(image.format) \(image.sourceSize) to \(image.size)"
            return Made(image: image, steps: [timer.step(.decode, note)])
        }
        picture.adopt(made.image)
        return made.image
    }
}
