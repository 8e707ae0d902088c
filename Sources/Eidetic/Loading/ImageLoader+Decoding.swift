import EideticCodecs
import EideticCore

extension ImageLoader {
    /// Decodes and transforms the bytes, once for all loads of the same image, and inserts it into memory.
    func decode(_ encodedImage: EncodedImage, for job: Job) async throws(EideticError) -> Output {
        let key = DecodeKey(for: job.request, from: encodedImage)
        let rendition = try await decodes.value(for: key, context: job.context) { decode throws(EideticError) in
            try await self.rendition(of: encodedImage, for: job.request, context: decode.context)
        }
        encodedImage.storeOnce()
        insert(rendition, of: encodedImage, for: job.request, since: job.start)
        return Output(rendition, of: encodedImage)
    }

    /// Decodes the bytes on disk on the calling thread.
    ///
    /// - Returns: `nil` if the disk has no bytes that can be decoded without a wait.
    func imageSynchronously(for request: ImageRequest) -> Output? {
        let start = renditions.startLoad(of: request.resourceKey)
        defer { renditions.endLoad(of: request.resourceKey) }
        guard let encodedImage = dataLoader.imageSynchronously(for: request) else { return nil }
        let timer = StepTimer()
        do throws(EideticError) {
            if request.defersDecoding { return try deferredImage(from: encodedImage, for: request) }
            let image = try decodedImage(from: encodedImage, for: request, context: nil)
            let step = timer.step(.decode, detail: "\(image.decodeSummary), by the caller")
            let rendition = try Self.transform(image, for: request, after: step, context: nil)
            insert(rendition, of: encodedImage, for: request, since: start)
            return Output(rendition, of: encodedImage)
        } catch {
            return nil
        }
    }

    /// Decodes on the calling thread, which waits for memory only if there is a context.
    func decodedImage(
        from encodedImage: EncodedImage,
        for request: ImageRequest,
        context: JobContext?
    ) throws(EideticError) -> Image {
        let options = decodeOptions(for: request)
        var image: Image
        if let context {
            let bytes = encodedImage.bytes
            image = try ImageDecoder.decode(bytes, options: options, limits: decodeLimits, context: context)
        } else {
            image = try ImageDecoder.decode(encodedImage.bytes, options: options, limits: decodeLimits)
        }
        image.recordSource(encodedImage)
        return image
    }

    private func rendition(
        of encodedImage: EncodedImage,
        for request: ImageRequest,
        context: JobContext
    ) async throws(EideticError) -> Rendition {
        let timer = StepTimer(), pool = pools.pool(for: encodedImage.bytes)
        return try await pool.run(in: context) { context throws(EideticError) in
            let wait = timer.elapsed
            let image = try self.decodedImage(from: encodedImage, for: request, context: context)
            encodedImage.storeOnce()
            let queued = Int(wait.inMilliseconds.rounded())
            let step = timer.step(.decode, detail: "\(image.decodeSummary), \(queued) ms in the queue")
            return try Self.transform(image, for: request, after: step, context: context)
        }
    }

    private func insert(
        _ rendition: Rendition,
        of encodedImage: EncodedImage,
        for request: ImageRequest,
        since start: UInt64
    ) {
        let (source, timeToLive) = (encodedImage.source, encodedImage.timeToLive)
        renditions.insert(rendition.image, for: request, from: source, timeToLive: timeToLive, since: start)
    }
}

extension Image {
    /// The format and sizes, for a trace.
    var decodeSummary: String { "\(format) \(sourceSize) to \(size)" }

    /// Records the size and the checksum of the bytes that the image was decoded from.
    mutating func recordSource(_ encodedImage: EncodedImage) {
        (encodedSize, encodedChecksum) = (ByteCount(encodedImage.bytes.count), encodedImage.checksum)
    }
}
