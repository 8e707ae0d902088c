import EideticCore

extension ImagePipeline {
    /// Loads before the picture is needed: at low priority, whatever processors and interceptors find.
    func prefetch(
        _ request: ImageRequest,
        to destination: ImagePrefetcher.Destination
    ) async throws(EideticError) -> ImageResponse {
        let context = JobContext(priority: .low)
        return try await load(request) { [self] file async throws(EideticError) in
            switch destination {
            case .memory: try await fileAnswer(file, context) { _ in }
            case .disk: try await bringToDisk(file, context)
            }
        }
    }

    /// Brings the original to disk without decoding it, unless it is there.
    private func bringToDisk(
        _ request: ImageRequest,
        _ context: JobContext
    ) async throws(EideticError) -> ImageResponse {
        let original = try await originals.original(for: request, context: context, onProgress: nil)
        let picture: Output
        do throws(EideticError) { picture = try pictures.deferred(request, original) } catch {
            pictures.note(error, of: original, request)
            throw error
        }
        if let error = try await original.storeError() { throw error }
        guard original.belongsOnDisk || original.isFromDisk || !request.resource.isStoredOnDisk else {
            let reason = configuration.diskCache == nil ? "there is no disk cache" : "it is not to be stored"
            throw EideticError(.refused, message: "\(request.name): \(reason)")
        }
        return ImageResponse(picture)
    }
}
