import EideticCore

/// The way of a request to its load: processors → interceptors → background task.
extension ImagePipeline {
    /// Returns the request after the configuration's processors, which are called in their order.
    func processed(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
        var request = request
        for process in configuration.requestProcessors { request = try process(request) }
        if let resource = ownResource(of: request) { request.resource = resource }
        return request
    }

    /// Returns the resource of a URL whose scheme is the user's own; otherwise, `nil`.
    private func ownResource(of request: ImageRequest) -> ImageRequest.Resource? {
        guard case .invalid(let url, _) = request.resource, let end = url.firstIndex(of: ":"),
            let source = configuration.sources[url[..<end].lowercased()]
        else { return nil }
        return .provider(name: url) { () async throws(EideticError) in try await source(url) }
    }

    /// Passes a request through the interceptors, the first one outermost, then through the other stages.
    func route(
        _ request: ImageRequest,
        through interceptors: ArraySlice<any ImageInterceptor>,
        to responder: @escaping Responder
    ) async throws(EideticError) -> ImageResponse {
        if let interceptor = interceptors.first {
            return try await interceptor.intercept(request) { [self] request async throws(EideticError) in
                try await route(request, through: interceptors.dropFirst(), to: responder)
            }
        }
        try request.resource.validate()
        let request = try await examined(request)
        guard LoadPolicy.continuesInBackground(request.options) else {
            return try await responder(Load(request))
        }
        return try await withBackgroundTask(for: request) { () async throws(EideticError) in
            try await responder(Load(request))
        }
    }
}
