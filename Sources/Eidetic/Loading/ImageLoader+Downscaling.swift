import EideticCodecs
import EideticCore

extension ImageLoader {
    /// Makes the image from a larger one in memory, without its bytes.
    ///
    /// - Returns: `nil` if memory has no larger image that can be resampled.
    func downscaledImage(for job: Job) async throws(EideticError) -> Output? {
        let request = job.request
        guard let base = request.baseKey, let size = request.rendering.size else { return nil }
        let mode = request.rendering.contentMode
        guard let larger = memory.image(for: request.imageKey, base: base, size: size, mode: mode),
            !larger.isAnimated, larger.isDecoded
        else { return nil }
        try await gate.waitUntilOpen(for: job.context)
        let (image, step) = try await pools.common.run(in: job.context) { _ throws(EideticError) in
            let timer = StepTimer()
            let image = try larger.downscaled(to: larger.sourceSize.scaled(to: size, mode: mode))
            return (image, timer.step(.decode, detail: "\(larger.size) in memory to \(image.size)"))
        }
        // Where images are fresh for a limited time, one made from another would outlive it.
        if dataLoader.freshnessPolicy == .maximumAge {
            renditions.insert(image, for: request, from: .memory, timeToLive: nil, since: job.start)
        }
        return Output(fromMemory: image, steps: [step])
    }
}

extension Image {
    /// Returns the first frame in a smaller size.
    fileprivate func downscaled(to size: PixelSize) throws(EideticError) -> Image {
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
