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
            case .transfers: try await transferToDisk(request, context: context)
            }
        }
    }

    /// Waits until another process has downloaded the bytes, unless they are on disk.
    private func transferToDisk(
        _ request: ImageRequest,
        context: JobContext
    ) async throws(EideticError) -> ImageResponse {
        guard let transferredImages else {
            throw EideticError(.refused, message: "\(request.name): the pipeline has no transfers, or no disk cache")
        }
        let file = sufficientFiles(for: request).first ?? request
        let isOnDisk = (try? await configuration.diskCache?.contains(file.resourceKey)) ?? false
        if !isOnDisk {
            do throws(EideticError) {
                try await transferredImages.download(file, downloader: configuration.downloader)
            } catch  where error.code == .refused {
                Log.write(.info, category: .pipeline, message: "\(error)")
            }
        }
        return try await loadToDisk(file, context: context)
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
