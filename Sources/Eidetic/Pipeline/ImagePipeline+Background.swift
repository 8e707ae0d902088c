import EideticCore

extension ImagePipeline {
    private typealias Load = Task<Result<ImageResponse, EideticError>, Never>

    /// Runs `operation` within a background task if the request has the option `continueInBackground`.
    ///
    /// The background task is open before `operation` starts. If it is refused, the operation does not start; when its
    /// time is used up, the operation is cancelled.
    func withBackgroundTask(
        for request: ImageRequest,
        operation body: @escaping @Sendable () async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        guard request.options.contains(.continueInBackground) else { return try await body() }
        let environment = configuration.environment
        let expiry = Expiry()
        let task = environment.beginBackgroundTask(named: "load \(request.name)") { expiry.expire() }
        guard task != .invalid else { throw .cancelled }
        defer { environment.endBackgroundTask(task) }
        let load = Load {
            do throws(EideticError) { return .success(try await body()) } catch { return .failure(error) }
        }
        expiry.cancelsAtExpiry(load)
        let result = await withTaskCancellationHandler {
            await load.value
        } onCancel: {
            load.cancel()
        }
        return try result.get()
    }

    /// The expiry of a background task, which may come before the load that it cancels is known.
    private final class Expiry: Sendable {
        private let state = Guarded<(load: Load?, isExpired: Bool)>((nil, false))

        func cancelsAtExpiry(_ load: Load) {
            let isExpired = state.withLock { state in
                state.load = load
                return state.isExpired
            }
            if isExpired { load.cancel() }
        }

        func expire() {
            let load = state.withLock { state in
                state.isExpired = true
                return state.load
            }
            load?.cancel()
        }
    }
}
