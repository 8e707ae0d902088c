import EideticCore
import EideticStore

extension ImagePipeline {
    /// Loads an image at low priority, whatever processors and interceptors set.
    func prefetch(
        _ request: ImageRequest,
        to destination: ImagePrefetcher.Destination
    ) async throws(EideticError) -> ImageResponse {
        let context = JobContext(priority: .low)
        return try await run(prepare(request)) { [self] load async throws(EideticError) in
            switch destination {
            case .memory: try await respond(to: Job(load: load, context: context) { _ in })
            case .disk: try await loadToDisk(load, context: context)
            case .transfers: try await transferToDisk(load, context: context)
            }
        }
    }

    /// Waits until another process has downloaded the bytes, unless they are on disk.
    private func transferToDisk(
        _ load: Load,
        context: JobContext
    ) async throws(EideticError) -> ImageResponse {
        let request = load.request
        guard let transferredImages = dataLoader.transferredImages else {
            throw EideticError(.refused, message: "\(request.name): the pipeline has no transfers, or no disk cache")
        }
        let isOnDisk = (try? await configuration.diskCache?.contains(request.resourceKey)) ?? false
        if isOnDisk { return try await loadToDisk(load, context: context) }
        let timer = StepTimer(), step: LoadTrace.Step
        do throws(EideticError) {
            try await transferredImages.download(load, downloader: configuration.downloader)
            step = timer.step(.network, detail: "by the transfer service")
        } catch  where error.code == .refused {
            Log.write(.info, category: .pipeline, message: "\(error)")
            return try await loadToDisk(load, context: context)
        }
        var response = try await loadToDisk(load, context: context)
        response.trace.steps.insert(step, at: 0)
        return response
    }

    /// Loads the bytes to disk, unless they are there, and reads their header.
    private func loadToDisk(_ load: Load, context: JobContext) async throws(EideticError) -> ImageResponse {
        let request = load.request
        if let output = try await derivedImage(for: load, context: context) { return ImageResponse(output) }
        let encodedImage = try await dataLoader.encodedImage(for: load, context: context, onUpdate: nil)
        defer { encodedImage.releaseShare() }
        let output: ImageLoader.Output
        do throws(EideticError) {
            output = try await imageLoader.deferDecoding(of: encodedImage, for: load, context: context)
        } catch {
            await imageLoader.recordFailure(error, of: encodedImage, for: load)
            throw error
        }
        if let error = try await encodedImage.waitForStorage() { throw error }
        guard encodedImage.isStorable || encodedImage.isFromDisk || !request.resource.isStoredOnDisk else {
            let reason = configuration.diskCache == nil ? "there is no disk cache" : "it must not be stored"
            throw EideticError(.refused, message: "\(request.name): not prefetched to disk: \(reason)")
        }
        return ImageResponse(output)
    }

    /// Returns the image in its size from disk, of which memory gets nothing; `nil` if the disk does not have it.
    private func derivedImage(for load: Load, context: JobContext) async throws(EideticError) -> ImageLoader.Output? {
        guard load.request.isDerived else { return nil }
        var request = load.request
        request.cacheAccess.subtract(.writeMemory)
        let job = ImageLoader.Job(
            load: load.replacingRequest(with: request),
            displayed: nil,
            token: imageLoader.renditions.startLoad(of: request.resourceKey),
            context: context
        ) { _ in }
        return try await imageLoader.derivedImage(for: job)
    }
}
