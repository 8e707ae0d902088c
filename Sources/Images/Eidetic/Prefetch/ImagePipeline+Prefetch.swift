import EideticCore

extension ImagePipeline {
    /// Loads an image at low priority, whatever processors and interceptors set.
    func prefetch(
        _ request: ImageRequest,
        to destination: ImagePrefetcher.Destination
    ) async throws(EideticError) -> ImageResponse {
        let context = JobContext(priority: .low)
        return try await admit(prepare(request)) { [self] load async throws(EideticError) in
            switch destination {
            case .memory: try await responder.respond(to: load, context: context) { _ in }
            case .disk: try await imageLoader.storedResponse(to: load, context: context)
            case .transfers: try await imageLoader.transferredResponse(to: load, context: context)
            }
        }
    }
}
