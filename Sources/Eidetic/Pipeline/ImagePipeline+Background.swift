import EideticCore

extension ImagePipeline {
    /// Runs `operation` within a background task if the request has the option `continueInBackground`.
    ///
    /// When the time of the background task is used up, `operation` is cancelled.
    func withBackgroundTask(
        for request: ImageRequest,
        operation body: @escaping @Sendable () async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        guard request.options.contains(.continueInBackground) else { return try await body() }
        let load = Task { () async -> Result<ImageResponse, EideticError> in
            do throws(EideticError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let environment = configuration.environment
        let task = environment.beginBackgroundTask(named: "load \(request.name)") { load.cancel() }
        defer { environment.endBackgroundTask(task) }
        if task == .invalid { load.cancel() }
        let result = await withTaskCancellationHandler {
            await load.value
        } onCancel: {
            load.cancel()
        }
        return try result.get()
    }
}
