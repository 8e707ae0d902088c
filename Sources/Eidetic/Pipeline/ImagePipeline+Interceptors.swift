import EideticCore

extension ImagePipeline {
    /// Returns the request after the configuration's processors.
    func processed(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
        var request = request
        for process in configuration.requestProcessors { request = try process(request) }
        return request
    }

    /// Passes a request through the interceptors, the first one outermost, to the responder.
    func intercept(
        _ request: ImageRequest,
        with interceptors: ArraySlice<any ImageInterceptor>,
        responder: @escaping Responder
    ) async throws(EideticError) -> ImageResponse {
        guard let first = interceptors.first else {
            try request.resource.validate()
            return try await withBackgroundTask(for: request) { [self] () async throws(EideticError) in
                try await respond(to: request, responder: responder)
            }
        }
        return try await first.intercept(request) { [self] request async throws(EideticError) in
            try await intercept(request, with: interceptors.dropFirst(), responder: responder)
        }
    }
}
