/// A request, and what the request processors have made of it, once for a load.
///
/// A class, because a request is large, and is not copied along.
package final class PreparedLoad: Sendable {
    /// The request as it was before the processors.
    package let request: ImageRequest
    /// The result of the processors; `nil` if there are none.
    private let result: Result<ImageRequest, EideticError>?

    init(_ request: ImageRequest, result: Result<ImageRequest, EideticError>? = nil) {
        self.request = request
        self.result = result
    }

    /// Returns the request after the processors, or throws their error.
    func processed() throws(EideticError) -> ImageRequest { try result?.get() ?? request }

    /// Calls `body` with the request after the processors, without a copy of it; `nil` if they have failed.
    package func withRequest<Value>(_ body: (ImageRequest) -> Value?) -> Value? {
        guard let result else { return body(request) }
        return (try? result.get()).flatMap(body)
    }
}

/// The functions that change or refuse each request before it is loaded, and the sources for schemes of the user's own.
struct RequestProcessors: Sendable {
    let isEmpty: Bool
    private let processors: [@Sendable (ImageRequest) throws(EideticError) -> ImageRequest]
    private let sources: [String: ImagePipeline.Configuration.Source]

    init(_ configuration: ImagePipeline.Configuration) {
        processors = configuration.requestProcessors
        sources = configuration.sources
        isEmpty = processors.isEmpty && sources.isEmpty
    }

    /// Calls all processors in their order, once for a load.
    func prepare(_ request: ImageRequest) -> PreparedLoad {
        guard !isEmpty else { return PreparedLoad(request) }
        return PreparedLoad(
            request,
            result: Result { () throws(EideticError) in
                var request = request
                for process in processors { request = try process(request) }
                if let resource = ownResource(of: request) { request.resource = resource }
                return request
            }
        )
    }

    /// Returns the resource of a URL whose scheme is the user's own; otherwise, `nil`.
    private func ownResource(of request: ImageRequest) -> ImageRequest.Resource? {
        guard case .invalid(let url, _) = request.resource.kind, let end = url.firstIndex(of: ":"),
            let source = sources[url[..<end].lowercased()]
        else { return nil }
        return .provider(name: url) { () async throws(EideticError) in try await source(url) }
    }
}
