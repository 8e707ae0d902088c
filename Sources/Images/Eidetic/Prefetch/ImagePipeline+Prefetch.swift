import EideticCore
import EideticStore

extension ImagePipeline {
    /// Loads an image at low priority, whatever processors and interceptors set.
    func prefetch(
        _ request: ImageRequest,
        to destination: ImagePrefetcher.Destination
    ) async throws(EideticError) -> ImageResponse {
        let context = JobContext(priority: .low)
        return try await admit(prepare(request)) { [self] load async throws(EideticError) in
            switch destination {
            case .memory: try await respond(to: load, context: context) { _ in }
            case .disk: try await imageLoader.storedResponse(to: load, context: context)
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
        guard let transferredImages = dataLoader.disk.transferredImages else {
            throw EideticError(.refused, message: "\(request.name): the pipeline has no transfers, or no disk cache")
        }
        let isOnDisk = (try? await configuration.diskCache?.contains(request.resourceKey)) ?? false
        if isOnDisk { return try await imageLoader.storedResponse(to: load, context: context) }
        let timer = StepTimer(), step: LoadTrace.Step
        do throws(EideticError) {
            try await transferredImages.download(load, downloader: configuration.downloader)
            step = timer.step(.network, detail: "by the transfer service")
        } catch  where error.code == .refused {
            Log.write(.info, category: .pipeline, message: "\(error)")
            return try await imageLoader.storedResponse(to: load, context: context)
        }
        var response = try await imageLoader.storedResponse(to: load, context: context)
        response.trace.steps.insert(step, at: 0)
        return response
    }
}
