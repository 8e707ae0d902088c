import EideticCore

/// The way of a request to the load of one file: interceptors → background task → candidates.
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
            return try await loadFirstCandidate(of: request, with: responder)
        }
        return try await withBackgroundTask(for: request) { [self] () async throws(EideticError) in
            try await loadFirstCandidate(of: request, with: responder)
        }
    }

    /// Responds with the first candidate that can be loaded, or to the request itself if it names one file.
    private func loadFirstCandidate(
        of request: ImageRequest,
        with responder: Responder
    ) async throws(EideticError) -> ImageResponse {
        guard let selection = selection(for: request) else { return try await responder(Load(request)) }
        let timer = StepTimer()
        let candidates = await order(of: selection, for: request)
        let summary = candidates.first.map { "\($0.size) of \(candidates.count), \(speedDescription(of: $0))" }
        var steps = [timer.step(.choice, detail: summary ?? "none")]
        var lastError = EideticError(.invalidArgument, message: "the list of candidates is empty")
        for candidate in candidates {
            let timer = StepTimer()
            do throws(EideticError) {
                var response = try await responder(Load(request.selecting(candidate)))
                response.trace.steps.insert(contentsOf: steps, at: 0)
                return response
            } catch  where error.code != .cancelled {
                lastError = error
                steps.append(timer.step(.choice, detail: "\(candidate.size) failed: \(error)"))
            }
        }
        throw lastError
    }
}
