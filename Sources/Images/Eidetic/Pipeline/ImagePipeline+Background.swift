import EideticCore

extension ImagePipeline {
    private typealias LoadTask = Task<Result<ImageResponse, EideticError>, Never>

    /// Runs `operation` within a background task (`continueInBackground`).
    ///
    /// The background task is open before `operation` starts. If it is refused, the operation does not start; when its
    /// time is used up, the download is handed over to another process, if the configuration has one, and the operation
    /// is cancelled.
    func withBackgroundTask(
        for request: ImageRequest,
        operation body: @escaping @Sendable () async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        let environment = configuration.environment
        let expiry = Expiry { [weak self] in await self?.handOver(request) }
        let task = environment.beginBackgroundTask(named: "load \(request.name)") { expiry.expire() }
        guard task != .invalid else { throw .cancelled }
        defer { environment.endBackgroundTask(task) }
        let load = LoadTask {
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

    /// Hands the download of an image over to another process, unless its bytes are here; failures are logged.
    private func handOver(_ request: ImageRequest) async {
        guard let transferredImages = dataLoader.disk.transferredImages, dataLoader.activeImages[request.dataKey] == nil
        else { return }
        do throws(EideticError) {
            try await transferredImages.handOver(Load(request), downloader: configuration.downloader)
            Log.write(.info, category: .pipeline, message: "\(request.name): handed over to the transfer process")
        } catch {
            Log.write(.warning, category: .pipeline, message: "\(request.name): not handed over: \(error)")
        }
    }

    /// The expiry of a background task, which may come before the load that it cancels is known.
    private final class Expiry: Sendable {
        private let state = Guarded<(load: LoadTask?, isExpired: Bool)>((nil, false))
        private let handOver: @Sendable () async -> Void

        /// Creates an expiry that calls `handOver` before the load is cancelled.
        init(handOver: @escaping @Sendable () async -> Void) { self.handOver = handOver }

        func cancelsAtExpiry(_ load: LoadTask) {
            let isExpired = state.withLock { state in
                state.load = load
                return state.isExpired
            }
            if isExpired { load.cancel() }
        }

        func expire() {
            // The background task stays open until the load ends, and so until the hand-over is complete.
            Task {
                await handOver()
                let load = state.withLock { state in
                    state.isExpired = true
                    return state.load
                }
                load?.cancel()
            }
        }
    }
}
