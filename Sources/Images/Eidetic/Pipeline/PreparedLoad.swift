import EideticCore

/// A request, and what the request processors have made of it, once for a load.
package struct PreparedLoad: Sendable {
    /// The result of the processors; a request is large, so it is not copied along.
    private final class Outcome: Sendable {
        let result: Result<ImageRequest, EideticError>

        init(_ result: Result<ImageRequest, EideticError>) { self.result = result }
    }

    /// The request as it was before the processors.
    package let request: ImageRequest
    private let outcome: Outcome?

    /// Creates the load of a request; `result` is `nil` without processors.
    init(_ request: ImageRequest, result: Result<ImageRequest, EideticError>? = nil) {
        self.request = request
        outcome = result.map { Outcome($0) }
    }

    /// Returns the request after the processors, or throws their error.
    func processed() throws(EideticError) -> ImageRequest { try outcome?.result.get() ?? request }

    /// Calls `body` with the request after the processors, without a copy of it; `nil` if they have failed.
    package func withRequest<Value>(_ body: (ImageRequest) -> Value?) -> Value? {
        guard let outcome else { return body(request) }
        guard case .success(let request) = outcome.result else { return nil }
        return body(request)
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
