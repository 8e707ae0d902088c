import EideticCore

extension ImagePipeline {
    /// Loads an image at low priority, whatever processors and interceptors set.
    func prefetch(
        _ request: ImageRequest,
        to destination: ImagePrefetcher.Destination
    ) async throws(EideticError) -> ImageResponse {
        let context = JobContext(priority: .low)
        return try await load(request) { [self] request async throws(EideticError) in
            switch destination {
            case .memory: try await respond(to: request, context: context) { _ in }
            case .disk: try await loadToDisk(request, context: context)
            }
        }
    }

    /// Loads the bytes to disk, unless they are there, and reads their header.
    private func loadToDisk(
        _ request: ImageRequest,
        context: JobContext
    ) async throws(EideticError) -> ImageResponse {
        let encodedImage = try await dataLoader.encodedImage(for: request, context: context, onProgress: nil)
        defer { encodedImage.releaseShare() }
        let output: ImageLoader.Output
        do throws(EideticError) { output = try imageLoader.deferredImage(from: encodedImage, for: request) } catch {
            imageLoader.recordFailure(error, of: encodedImage, for: request)
            throw error
        }
        if let error = try await encodedImage.waitForStorage() { throw error }
        guard encodedImage.isStorable || encodedImage.isFromDisk || !request.resource.isStoredOnDisk else {
            let reason = configuration.diskCache == nil ? "there is no disk cache" : "it must not be stored"
            throw EideticError(.refused, message: "\(request.name): not prefetched to disk: \(reason)")
        }
        return ImageResponse(output)
    }
}
