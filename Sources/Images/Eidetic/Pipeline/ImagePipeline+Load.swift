import EideticCore
import EideticFetch

/// A request, and what the request processors have made of it, once for a load.
struct PreparedLoad: Sendable {
    /// The result of the processors; a request is large, so it is not copied along.
    private final class Outcome: Sendable {
        let result: Result<ImageRequest, EideticError>
        init(_ result: Result<ImageRequest, EideticError>) { self.result = result }
    }

    /// The request as it was before the processors.
    let request: ImageRequest
    private let outcome: Outcome?

    /// Creates the load of a request; `result` is `nil` without processors.
    init(_ request: ImageRequest, result: Result<ImageRequest, EideticError>? = nil) {
        self.request = request
        outcome = result.map { Outcome($0) }
    }

    /// Returns the request after the processors, or throws their error.
    func processed() throws(EideticError) -> ImageRequest { try outcome?.result.get() ?? request }

    /// Calls `body` with the request after the processors, without a copy of it; `nil` if they have failed.
    func withRequest<Value>(_ body: (ImageRequest) -> Value?) -> Value? {
        guard let outcome else { return body(request) }
        guard case .success(let request) = outcome.result else { return nil }
        return body(request)
    }
}

/// The way of a load, from the request to the response.
extension ImagePipeline {
    /// One load of a file, as its steps hand it along.
    struct Job: Sendable {
        let load: Load
        let context: JobContext
        let report: @Sendable (ImageTask.Event) -> Void
    }

    /// A function that responds to a request for one file, after processors and interceptors.
    typealias Responder = @Sendable (Load) async throws(EideticError) -> ImageResponse

    /// Calls the configuration's request processors, the first one first.
    ///
    /// Every load begins here, so that each processor runs once, whether memory has the image or not.
    func prepare(_ request: ImageRequest) -> PreparedLoad {
        guard !isPlain else { return PreparedLoad(request) }
        return PreparedLoad(request, result: Result { () throws(EideticError) in try processed(request) })
    }

    /// Loads with the priority of `context`.
    func run(
        _ load: PreparedLoad,
        context: JobContext,
        report: @escaping @Sendable (ImageTask.Event) -> Void = { _ in }
    ) async throws(EideticError) -> ImageResponse {
        try await run(load) { [self, initial = load.request.priority] file async throws(EideticError) in
            // Processors and interceptors may have changed the priority.
            if file.request.priority != initial { context.priority = file.request.priority }
            return try await respond(to: Job(load: file, context: context, report: report))
        }
    }

    /// Passes a request through the interceptors to the responder, and counts the outcome.
    ///
    /// Every public function that may suspend calls this one.
    func run(_ load: PreparedLoad, responder: @escaping Responder) async throws(EideticError) -> ImageResponse {
        counters.countLoad()
        do throws(EideticError) {
            let request = try load.processed()
            if Task.isCancelled { throw EideticError.cancelled }
            let response = try await route(request, through: configuration.interceptors[...], to: responder)
            counters.count(response)
            log(response, to: request)
            return response
        } catch {
            counters.count(error)
            Log.write(.info, category: .pipeline, message: "\(load.request.name): \(error)")
            throw error
        }
    }

    private func log(_ response: ImageResponse, to request: ImageRequest) {
        Log.write(
            .info,
            category: .pipeline,
            message: "\(request.name): \(response.image.size) from \(response.source)"
        )
        Log.write(
            .debug,
            category: .pipeline,
            message: "\(request.name): \(response.trace.description.split(separator: "\n").joined(separator: "; "))"
        )
    }
}
