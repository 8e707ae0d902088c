import EideticCore

extension ImagePipeline {
    /// Runs `body` within a background task where the request asks for one (`continueInBackground`).
    ///
    /// When the task's time is used up, `body` is cancelled.
    func covered(
        _ request: ImageRequest,
        _ body: @escaping @Sendable () async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        guard request.options.contains(.continueInBackground) else { return try await body() }
        let work = Task { () async -> Result<ImageResponse, EideticError> in
            do throws(EideticError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let environment = configuration.environment
        let task = environment.beginBackgroundTask(named: "load \(request.name)") { work.cancel() }
        defer { environment.endBackgroundTask(task) }
        if task == .invalid { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        return try result.get()
    }
}
